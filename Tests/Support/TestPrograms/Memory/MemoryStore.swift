import PushCore
package import PushOutbox
package import PushSender
package import SealedPush

/// An outbox in memory: rows under a lock, and no rule. It shows that a store needs none, and serves tests of what is above.
package final class MemoryStore: OutboxStore {
    package let clock: OutboxClock
    private let shared: Locked<MemoryTables>

    package init(clock: OutboxClock) { (self.clock, shared) = (clock, Locked(MemoryTables())) }

    /// Opens another store's rows with another clock, as another process would.
    package init(sharing other: MemoryStore, clock: OutboxClock) { (self.clock, shared) = (clock, other.shared) }

    /// Opens a copy of another store's rows, as a backup has them.
    package init(copying other: MemoryStore) { (clock, shared) = (other.clock, Locked(other.tables)) }

    /// A copy of all rows at this moment.
    private var tables: MemoryTables { shared.withLock { $0 } }

    /// Changes all rows, or none if it throws.
    private func write<Answer: Sendable>(
        _ body: (inout MemoryTables, Int64) throws(OutboxError) -> Answer
    ) throws(OutboxError) -> Answer {
        let now = clock.now()
        return try shared.withLock { tables throws(OutboxError) in
            var changed = tables
            let answer = try body(&changed, now)
            tables = changed
            return answer
        }
    }

    /// Changes rows in place, which saves a copy of every table that changes. `body` must not throw after its first change.
    private func change<Answer: Sendable>(
        _ body: (inout MemoryTables, Int64) throws(OutboxError) -> Answer
    ) throws(OutboxError) -> Answer {
        let now = clock.now()
        return try shared.withLock { tables throws(OutboxError) in try body(&tables, now) }
    }

    package func rest(for duration: Duration, by carrier: Carrier) async { await clock.sleep(duration) }
    package func requireWritable() {}
    package func requireRegistering() {}
    package func mark() -> [UInt8]? { tables.mark }
    package func setMark(_ mark: [UInt8]) throws(OutboxError) {
        try change { tables, _ in tables.mark = tables.mark ?? mark }
    }

    // MARK: Devices

    package func register(_ changes: [DeviceChange]) throws(OutboxError) -> [RegistrationChange] {
        if let only = changes.first, changes.count == 1 {
            return [try change { tables, now throws(OutboxError) in try tables.save(only, at: now) }]
        }
        return try write { tables, now throws(OutboxError) in
            try changes.map { change throws(OutboxError) in try tables.save(change, at: now) }
        }
    }

    package func remove(_ device: FoundDevice, if condition: DeviceCondition) throws(OutboxError) -> Int? {
        try change { tables, now throws(OutboxError) in
            guard let row = tables.devices[device.row]?.columns, try condition(FoundDevice(row)) else { return nil }
            return tables.remove(device.row, at: now)
        }
    }

    package func devices(_ selection: DeviceSelection) throws(OutboxError) -> [FoundDevice] {
        let all = tables.devices.values.sorted { $0.name.lexicographicallyPrecedes($1.name) }
        let found: ArraySlice<MemoryTables.Device> =
            switch selection {
            case .named(let name): all.filter { $0.name == name.description.bytes }[...]
            case .of(let user): all.filter { $0.user == user.description.bytes }[...]
            case .enrolled(let key): all.filter { $0.row.enrollment?.key == key.description }[...]
            case .page(let name, let limit):
                all.filter { name?.lexicographicallyPrecedes($0.name) ?? true }.prefix(limit)
            case .rows(let first, let limit): all.filter { $0.id >= first }.sorted { $0.id < $1.id }.prefix(limit)
            }
        return try found.map { device throws(OutboxError) in try FoundDevice(device.columns) }
    }

    package func forget(audiences: [String], receipts: [ReceiptID]) throws(OutboxError) {
        let audiences = Set(audiences.map(\.bytes))
        try change { tables, _ in
            tables.forgetRequests { audiences.contains($0.optionalTextBytes("audience") ?? []) }
            tables.receipts.removeAll { receipts.contains($0.id) }
        }
    }

    package func endLogins(of user: UserName, at moment: Int64) throws(OutboxError) {
        let name = user.description.bytes
        try change { tables, _ in tables.logins[name] = max(tables.logins[name] ?? .min, moment) }
    }

    package func loginsEnded(for user: UserName) -> Int64? { tables.logins[user.description.bytes] }

    // MARK: Messages

    package func candidates(for order: EnqueueOrder) throws(OutboxError) -> EnqueueBatch {
        try change { tables, now throws(OutboxError) in
            let progress = try tables.progress(of: order)
            if let progress, progress.isComplete {
                return EnqueueBatch(doneWith: progress.enqueuedCount, message: progress.message)
            }
            let (found, problem): ([EnqueueBatch.Candidate?], OutboxError)
            switch order.audience {
            case .device(let name):
                (found, problem) = (tables.candidates { $0.name == name.description.bytes }, .unknownDevice)
            case .user(let user):
                (found, problem) = (tables.candidates { $0.user == user.description.bytes }, .unknownUser)
            case .everyone: return tables.nextRange(of: order, progress, at: now)
            }
            guard !found.isEmpty else { throw problem }
            return EnqueueBatch(candidates: found, alreadyEnqueuedCount: 0)
        }
    }

    package func enqueue(
        _ sealed: [EnqueueBatch.Sealed], of batch: EnqueueBatch, _ order: EnqueueOrder
    ) throws(OutboxError) -> Bool {
        try change { tables, now throws(OutboxError) in
            guard sealed.allSatisfy({ tables.devices[$0.device]?.revision == $0.revision }) else { return false }
            let isWhole = batch.range == nil
            if let range = batch.range {
                let last = tables.ranges[order.key?.digest ?? []]?.removeValue(forKey: range.start)
                guard last != nil else { return false }
            } else if try tables.progress(of: order) != nil {
                return false
            }
            for item in sealed { tables.insert(item, order, isWhole: isWhole, at: now) }
            tables.save(order, position: isWhole ? .max : 0, isComplete: isWhole, adding: sealed.count, at: now)
            return true
        }
    }

    package func outcomes(of message: MessageID) -> [MessageOutcome] {
        let tables = tables
        return tables.outcomes[message.description]?.counts.flatMap { device, counts in
            counts.map { (device, tables.devices[device]?.row.name, $0.key, $0.value) }
        } ?? []
    }

    // MARK: Leases

    package func settle(_ exchange: LeaseExchange) throws(OutboxError) -> LeaseAnswer {
        // Only a damaged row could make this throw, and rows in memory aren't damaged.
        try change { tables, now throws(OutboxError) in
            for (lease, settlement) in exchange.settled { tables.settle(lease, settlement, at: now) }
            for lease in exchange.extended where tables.queues[lease.device]?.lease == lease.number {
                tables.queues[lease.device]?.due = now + exchange.hold.milliseconds
            }
            var answer = LeaseAnswer()
            if let order = exchange.order { answer.leases = try tables.take(order, at: now) }
            return answer
        }
    }

    package func hasProvenAddress(of carrier: Carrier) -> Bool {
        tables.devices.values.contains { $0.isProven && $0.row.carrier == carrier.description }
    }

    package func timeUntilDue(by carrier: Carrier) -> Duration? {
        let due = tables.queues.values.filter { $0.carrier == carrier }.map(\.due).min()
        return due.map { DueTimes.delay(until: $0, at: clock.now()) }
    }

    // MARK: Upkeep

    package func requeue(_ requeuing: Requeuing, limit: Int) throws(OutboxError) -> Int {
        // No device is ever held.
        try requeuing.isWaiting ? 0 : change { tables, now in tables.requeue(requeuing, limit: limit, at: now) }
    }

    package func retryNow() throws(OutboxError) -> Int {
        try change { tables, now in
            let deferred = tables.queues.filter { $0.value.due > now && $0.value.lease == nil }.keys
            for device in deferred { tables.queues[device]?.due = now }
            return deferred.count
        }
    }

    package func removeRecords() throws(OutboxError) -> Int64? { try change { $0.removeRecords(at: $1) } }

    package func removeDeadLetters(_ condition: PushCondition, limit: Int) throws(OutboxError) -> Int {
        try change { tables, _ in
            let removed = tables.deadLetters.values.filter { $0.isSelected(by: condition.rows) }.prefix(limit)
            for letter in removed { tables.deadLetters[letter.id] = nil }
            return removed.count
        }
    }

    package func removeEntries(_ condition: PushCondition, outcome: String, limit: Int) throws(OutboxError) -> Int {
        try change { tables, now in
            let removed = tables.entries.values.joined().filter { $0.isSelected(by: condition.rows) }.prefix(limit)
            for push in removed {
                tables.remove(push.id, of: push.device, outcome, at: now)
                guard tables.entries[push.device] == nil, let queue = tables.queues[push.device] else { continue }
                if queue.lease == nil || queue.due <= now { tables.queues[push.device] = nil }
            }
            return removed.count
        }
    }

    package func status() throws(OutboxError) -> OutboxStatus { try tables.status(StatusCount(at: clock.now())) }

    package func deadLetters(_ condition: PushCondition, offset: Int, limit: Int) throws(OutboxError) -> [DeadLetter] {
        let tables = tables
        return try tables.deadLetters.values.filter { $0.isSelected(by: condition.rows) }.sorted { $0.id < $1.id }
            .dropFirst(offset).prefix(limit)
            .map { push throws(OutboxError) in try DeadLetter(push.columns(of: tables.devices[push.device])) }
    }

    // MARK: Receipts

    package func count(
        _ receipts: [ShownReceipt], refused: [ReceiptError: Int]
    ) throws(OutboxError) -> [ReceiptOutcome] {
        try write { tables, now throws(OutboxError) in
            for (error, count) in refused {
                tables.receiptTallies.add(ReceiptTally.refused(error.rawValue), count, at: now)
            }
            return try receipts.map { receipt throws(OutboxError) in try tables.count(receipt, at: now) }
        }
    }

    package func receipts(days: Int) throws(OutboxError) -> ReceiptReport { try tables.report(days, at: clock.now()) }

    package func receipts(of id: ReceiptID) throws(OutboxError) -> ReceiptDevice? {
        let rows = tables.receipts.filter { $0.id == id }
        guard let last = rows.map(\.arrived).max() else { return nil }
        let failed = rows.map(\.failedCount).reduce(0, +)
        return try ReceiptDevice(MemoryRow(["last": last, "shown": rows.count, "failed": failed]))
    }
}
