import PushOutbox
import PushSender
import SealedPush

/// The rows of an outbox in memory. They correspond to the tables in SQLite.
struct MemoryTables: Sendable {
    var mark: [UInt8]?
    var devices: [Int64: Device] = [:]
    private var lastDevice: Int64 = 0
    /// The numbers of the last devices with each name and each address.
    private var (names, holders): ([[UInt8]: Int64], [[UInt8]: Int64]) = ([:], [:])
    /// The ends of users' logins, by the bytes of their names.
    var logins: [[UInt8]: Int64] = [:]
    /// Waiting pushes of each device, in the order of their numbers.
    var entries: [Int64: [Push]] = [:]
    private var lastEntry: Int64 = 0
    var queues: [Int64: Queue] = [:]
    var deadLetters: [Int64: Push] = [:]
    private var requests: [[UInt8]: MemoryRow] = [:]
    /// The last devices of the ranges that were started but not stored, by their keys and starts.
    var ranges: [[UInt8]: [Int64: Int64]] = [:]
    /// The counts of each message, by device and outcome.
    var outcomes: [String: (created: Int64, counts: [Int64: [String: Int]])] = [:]
    private var tallies = Tallies()
    var receipts: [ReceiptRow] = []
    var receiptTallies = Tallies()
    /// The first day of which numbers of receipts are known.
    private var receiptDay = Int64.min

    struct Device: Sendable {
        let id: Int64
        let row: DeviceRow
        let (name, user): ([UInt8], [UInt8])
        var address: [UInt8]?
        var refusal: String?
        var isProven: Bool
        var revision: Int64

        var isReachable: Bool { columns.isSelected(by: .isReachable) }

        var columns: MemoryRow {
            MemoryRow([
                "id": id, "revision": revision, "name": row.name, "user_name": row.user, "topic": row.topic,
                "carrier": row.carrier, "token": address, "token_registered": row.registered,
                "token_refusal": refusal, "is_proven": isProven, "recipient": row.key.recipient?.bytes,
                "is_verified": row.key.isVerified, "valid_from": row.key.validFrom,
                "valid_until": row.key.validUntil, "keeps": row.key.keeps, "enrollment": row.enrollment?.key,
                "record": row.enrollment?.record, "proven": row.enrollment?.proven, "pin_code": row.codes.pin,
                "address_code": row.codes.address, "code": row.codes.enrollment,
            ])
        }
    }

    struct Push: Sendable {
        let id: Int64
        let device: Int64
        let enqueued: Int64
        let sendUntil: Int64
        let message: String
        let row: EntryRow
        // Of a dead letter.
        var reason: String?
        var attempts = 0
        var buried: Int64 = 0

        /// The columns of the push and, if it's registered, of its device.
        func columns(of device: Device?) -> MemoryRow {
            MemoryRow(
                [
                    "id": id, "enqueued": enqueued, "send_until": sendUntil, "priority": row.priority,
                    "expiration": row.expiration, "apns_id": row.apnsID, "collapse_id": row.collapseID,
                    "body": row.body, "sender": row.sender, "code": row.code, "reason": reason,
                    "attempts": attempts, "buried": buried,
                ], beside: device?.columns)
        }

        func isSelected(by condition: RowCondition) -> Bool {
            MemoryRow(["send_until": sendUntil, "sender": row.sender, "reason": reason]).isSelected(by: condition)
        }
    }

    struct Queue: Sendable {
        var carrier: Carrier
        var priority: Int
        var due: Int64
        var lease: Int64?
        var entry: Int64?
        var attempts = 0
    }

    // MARK: Devices

    mutating func save(_ change: DeviceChange, at now: Int64) throws(OutboxError) -> RegistrationChange {
        let known = names[change.name.description.bytes].flatMap { devices[$0] }
        let registration = try Registration(change, knowing: known?.columns)
        let plan = try registration.plan(knowing: owners(registration))
        var discardedCount = 0
        for step in plan.steps {
            switch step {
            case .remove(let row): discardedCount += remove(row, at: now)
            case .dropAddress(let row, let reason): disable(row, reason: reason, isDropped: true)
            case .discardAll(let row): discardedCount += discardAll(of: row, Tally.discarded, at: now)
            case .write(let keepsProof): write(registration, isProven: keepsProof && known?.isProven ?? false)
            case .redirect(let row, let carrier, let due):
                queues[row]?.carrier = carrier
                guard let due, let queue = queues[row], queue.lease == nil, queue.due > due else { continue }
                queues[row] = Queue(carrier: carrier, priority: queue.priority, due: due, entry: queue.entry)
            }
        }
        return plan.change(discarding: discardedCount)
    }

    private func owners(_ registration: Registration) throws(OutboxError) -> KnownOwners {
        let (user, bytes) = (registration.new.device.user.description.bytes, registration.address?.bytes ?? [])
        let holder = holders[bytes].flatMap { devices[$0] }
        let key = registration.enrollment?.description
        let enrolled = key == nil ? [] : devices.values.filter { $0.row.enrollment?.key == key && $0.user != user }
        return try KnownOwners(
            deviceCount: registration.countedUser == nil ? 0 : devices.values.count { $0.user == user },
            enrolled: enrolled.filter { $0.id != registration.row }.map {
                MemoryRow(["id": $0.id, "is_proven": $0.row.enrollment?.proven != ""])
            },
            holder: holder.flatMap { $0.address == bytes && $0.id != registration.row ? $0.columns : nil })
    }

    private mutating func write(_ registration: Registration, isProven: Bool) {
        if registration.row == nil { lastDevice += 1 }
        let (id, row) = (registration.row ?? lastDevice, DeviceRow(registration.new))
        let device = Device(
            id: id, row: row, name: row.name.bytes, user: row.user.bytes, address: row.address, refusal: row.refusal,
            isProven: isProven, revision: (devices[id]?.revision ?? 0) + 1)
        (devices[id], names[device.name]) = (device, id)
        if let address = row.address { holders[address] = id }
    }

    mutating func remove(_ id: Int64, at now: Int64) -> Int {
        devices[id] = nil
        return discardAll(of: id, Tally.discarded, at: now)
    }

    private mutating func disable(_ id: Int64, reason: String, isDropped: Bool) {
        if isDropped { devices[id]?.address = nil }
        devices[id]?.refusal = reason
        devices[id]?.isProven = false
        devices[id]?.revision += 1
    }

    // MARK: Messages

    func candidates(where condition: (Device) -> Bool) -> [EnqueueBatch.Candidate?] {
        devices.values.filter(condition).sorted { $0.id < $1.id }.map { device in
            try? EnqueueBatch.Candidate(device.columns, hasToken: device.isReachable)
        }
    }

    func progress(of order: EnqueueOrder) throws(OutboxError) -> EnqueueProgress? {
        try requests[order.key?.digest ?? []].map { row throws(OutboxError) in try EnqueueProgress(row, of: order) }
    }

    /// Starts a new range, or returns one that was already started.
    mutating func nextRange(of order: EnqueueOrder, _ progress: EnqueueProgress?, at now: Int64) -> EnqueueBatch {
        let (position, count) = (progress?.position ?? 0, progress?.enqueuedCount ?? 0)
        let (key, topic) = (order.key?.digest ?? [], order.topic.description)
        var range: EnqueueRange?
        if position < .max {
            let ahead = devices.values.filter { $0.id > position && $0.row.topic == topic }.map(\.id).sorted()
            let next = EnqueueProgress.next(behind: position, Array(ahead.prefix(EnqueueBatch.maximumCount)))
            save(order, position: next.position, at: now)
            range = next.range
            if let range { ranges[key, default: [:]][range.start] = range.last }
        }
        guard let range = range ?? ranges[key]?.randomElement().map({ ($0.key, $0.value) }) else {
            save(order, position: .max, isComplete: true, at: now)
            return EnqueueBatch(doneWith: count, message: progress?.message)
        }
        let found = candidates { $0.id > range.start && $0.id <= range.last && $0.row.topic == topic }
        return EnqueueBatch(
            candidates: found, range: range, alreadyEnqueuedCount: count, message: progress?.message)
    }

    /// Records the reading position and the number of pushes enqueued. A no-op without a key.
    mutating func save(
        _ order: EnqueueOrder, position: Int64, isComplete: Bool = false, adding count: Int = 0, at now: Int64
    ) {
        guard let key = order.key?.digest else { return }
        let new = MemoryRow([
            "audience": order.audienceText, "message": order.message.description, "created": now,
            "fingerprint": order.fingerprint,
        ])
        let old = requests[key] ?? new
        requests[key] = MemoryRow(
            [
                "position": max(position, old.optionalInt("position") ?? 0), "is_complete": isComplete,
                "enqueued": (old.optionalInt("enqueued") ?? 0) + Int64(count),
            ], beside: old)
    }

    mutating func forgetRequests(where condition: (MemoryRow) -> Bool) {
        requests = requests.filter { !condition($0.value) }
        ranges = ranges.filter { requests[$0.key] != nil }
    }

    mutating func insert(_ item: EnqueueBatch.Sealed, _ order: EnqueueOrder, isWhole: Bool, at now: Int64) {
        lastEntry += 1
        insert(
            Push(
                id: lastEntry, device: item.device, enqueued: now, sendUntil: item.sendUntil(at: now),
                message: order.message.description, row: item.entry), at: now)
        note(Tally.enqueued, order.message.description, at: isWhole ? item.device : 0, at: now)
    }

    /// Inserts a push, and makes its device's queue due, in its highest-priority lane. Back-offs and leases continue.
    private mutating func insert(_ push: Push, at now: Int64) {
        let pushes = entries[push.device] ?? []
        entries[push.device, default: []].insert(push, at: pushes.firstIndex { $0.id > push.id } ?? pushes.count)
        guard let carrier = Carrier(devices[push.device]?.row.carrier ?? "") else { return }
        var queue = queues[push.device] ?? Queue(carrier: carrier, priority: 0, due: now)
        queue.priority = max(queue.priority, push.row.priority)
        queues[push.device] = queue
    }

    private mutating func note(_ outcome: String, _ message: String, at place: Int64, count: Int = 1, at now: Int64) {
        outcomes[message, default: (now, [:])].counts[place, default: [:]][outcome, default: 0] += count
    }

    /// Counts the end of a push for its message and for the day.
    private mutating func count(_ ending: PushEnding, of push: Push) {
        let place = outcomes[push.message]?.counts[0]?[Tally.enqueued] == nil ? push.device : 0
        note(ending.outcome, push.message, at: place, count: ending.step, at: ending.time)
        tallies[ending.day, default: [:]][ending.outcome, default: 0] += ending.step
    }

    /// Takes entries of a device out, either one of them or all, and counts their end.
    private mutating func take(_ id: Int64?, of device: Int64, _ ending: PushEnding) -> [Push] {
        let taken = entries[device]?.filter { id == nil || $0.id == id } ?? []
        entries[device]?.removeAll { id == nil || $0.id == id }
        if entries[device]?.isEmpty ?? false { entries[device] = nil }
        for push in taken { count(ending, of: push) }
        return taken
    }

    mutating func remove(_ entry: Int64, of device: Int64, _ outcome: String, at now: Int64) {
        _ = take(entry, of: device, PushEnding(outcome, at: now))
    }

    @discardableResult private mutating func discardAll(of device: Int64, _ outcome: String, at now: Int64) -> Int {
        let letters = deadLetters.filter { $0.value.device == device }
        for letter in letters { deadLetters[letter.key] = nil }
        queues[device] = nil
        return take(nil, of: device, PushEnding(outcome, at: now)).count + letters.count
    }

    /// Moves entries of a device to the dead letters, either one of them, or all with the queue.
    private mutating func bury(
        _ entry: Int64?, of device: Int64, reason: String, attempts: Int = 0, at now: Int64
    ) {
        for var push in take(entry, of: device, PushEnding(burying: reason, at: now)) {
            (push.reason, push.attempts, push.buried) = (reason, attempts, now)
            deadLetters[push.id] = push
        }
        if entry == nil { queues[device] = nil }
    }

    // MARK: Leases

    mutating func take(_ order: LeaseOrder, at now: Int64) throws(OutboxError) -> [Lease] {
        var leases: [Lease] = []
        var lanes = LaneSequence(order)
        while let (lane, limit) = lanes.next(after: leases.count) {
            for device in due(order.carrier, lane.rawValue, at: now).prefix(limit) {
                if let lease = try take(device, order, after: leases.count, at: now) { leases.append(lease) }
            }
        }
        return leases
    }

    /// Returns due queues, longest waiting first.
    private func due(_ carrier: Carrier, _ priority: Int, at now: Int64) -> [Int64] {
        let lane = queues.filter { $0.value.carrier == carrier && $0.value.priority == priority }
        for times in DueTimes.searched(at: now) {
            let found = lane.filter { (times.first...times.last).contains($0.value.due) }
            if !found.isEmpty { return found.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }.map(\.key) }
        }
        return []
    }

    /// Judges a queue's entries, oldest first, until one is leased or none is left.
    private mutating func take(
        _ device: Int64, _ order: LeaseOrder, after count: Int, at now: Int64
    ) throws(OutboxError) -> Lease? {
        while let queue = queues[device] {
            let head = try QueueHead(
                queue: MemoryRow(["device": device, "entry": queue.entry, "attempts": queue.attempts]),
                entry: entries[device]?.first?.columns(of: devices[device]))
            switch head.judge(for: order, after: count, at: now) {
            case .lease(let lease):
                queues[device] = Queue(
                    carrier: queue.carrier, priority: queue.priority, due: now + order.duration.milliseconds,
                    lease: lease.number, entry: lease.entry, attempts: lease.attempts)
                return lease
            case .remove(let entry, let outcome): remove(entry, of: device, outcome, at: now)
            case .bury(let entry, let reason): bury(entry, of: device, reason: reason, at: now)
            case .buryAll(let device, let reason): bury(nil, of: device, reason: reason, at: now)
            case .removeQueue: queues[device] = nil
            }
        }
        return nil
    }

    mutating func settle(_ lease: Lease, _ settlement: Settlement, at now: Int64) {
        let id = lease.device
        let device = devices[id].flatMap { $0.address == lease.request.address.bytes ? $0 : nil }
        let registered = device.flatMap { $0.refusal == nil ? $0.row.registered : nil }
        for change in settlement.changes(to: lease, registered: registered) {
            let queue = queues[id].flatMap { $0.lease == lease.number ? $0 : nil }
            switch change {
            case .remove(let outcome): remove(lease.entry, of: id, outcome, at: now)
            case .bury(let reason): bury(lease.entry, of: id, reason: reason, attempts: lease.attempts, at: now)
            case .prove: if device != nil { devices[id]?.isProven = true }
            case .dropAddress(let reason): disable(id, reason: reason, isDropped: true)
            case .disableAddress(let reason): disable(id, reason: reason, isDropped: false)
            case .discardAll(let outcome): discardAll(of: id, outcome, at: now)
            case .buryAll(let reason): bury(nil, of: id, reason: reason, at: now)
            case .release(let delay, let attempts):
                guard let queue else { continue }
                queues[id] = Queue(
                    carrier: queue.carrier, priority: queue.priority, due: now + delay.milliseconds,
                    entry: queue.entry, attempts: attempts)
            case .advance:
                if let queue, let waiting = entries[id] {
                    let priority = waiting.map(\.row.priority).max() ?? queue.priority
                    queues[id] = Queue(carrier: queue.carrier, priority: priority, due: now)
                } else if entries[id] == nil, queue != nil || queues[id]?.lease == nil {
                    queues[id] = nil
                }
            }
        }
    }

    // MARK: Upkeep

    mutating func requeue(_ requeuing: Requeuing, limit: Int, at now: Int64) -> Int {
        for id in Set(deadLetters.values.map(\.device))
        where devices[id]?.columns.isSelected(by: requeuing.addresses) ?? false {
            devices[id]?.refusal = nil
            devices[id]?.revision += 1
        }
        let condition = requeuing.letters(at: now)
        let letters = deadLetters.values.filter {
            $0.isSelected(by: condition) && devices[$0.device]?.isReachable ?? false
        }.sorted { $0.id < $1.id }.prefix(limit)
        for var letter in letters {
            count(PushEnding(requeueing: letter.reason ?? "", buriedAt: letter.buried), of: letter)
            deadLetters[letter.id] = nil
            letter.reason = nil
            insert(letter, at: now)
        }
        return letters.count
    }

    mutating func removeRecords(at now: Int64) -> Int64? {
        let limits = RecordLimits(at: now)
        forgetRequests { $0.optionalInt("created") ?? 0 < limits.created }
        outcomes = outcomes.filter { $0.value.created >= limits.created }
        tallies = tallies.filter { $0.key >= limits.tallyDay }
        logins = logins.filter { $0.value >= limits.loginsEnded }
        let recent = Set(receipts.filter { $0.arrived >= limits.lastReceipt }.map(\.id))
        receipts.removeAll { !recent.contains($0.id) }
        receiptTallies = receiptTallies.filter { $0.key >= limits.tallyDay }
        receiptDay = limits.receiptDay
        return now
    }

    func status(_ count: StatusCount) throws(OutboxError) -> OutboxStatus {
        var status = OutboxStatus()
        let reachable = devices.values.filter(\.isReachable)
        let ends = reachable.filter(\.row.key.isVerified).map(\.row.key.validUntil).filter { $0 >= count.second }
        try status.count(
            MemoryRow([
                "devices": devices.count, "reachable": reachable.count, "expiry": ends.min(),
                "expiring": ends.count { $0 < count.expiresSoon },
            ]))
        let waiting = entries.values.joined()
        status.waitingCount = waiting.count
        for (age, time) in count.ages { status.waitingByAge[age] = waiting.count { $0.enqueued < time } }
        status.waitingBySender = Self.senders(waiting.map(\.row))
        status.deadLettersBySender = Self.senders(deadLetters.values.map(\.row))
        let later = queues.values.filter { $0.due > count.now }
        let leasedCount = later.count { $0.lease != nil }
        status.queues = try OutboxStatus.Queues(
            MemoryRow([
                "due": queues.count - later.count, "leased": leasedCount, "deferred": later.count - leasedCount,
            ]))
        status.nextDue = count.nextDue(queues.values.map(\.due).min())
        status.waitingDevices = Self.counts(queues.values.map(\.carrier))
        status.deadLetters = Self.counts(deadLetters.values.compactMap(\.reason))
        for (day, outcomes) in tallies where day > count.lastUncountedDay {
            status.outcomes.merge(outcomes, uniquingKeysWith: +)
        }
        return status
    }

    private static func counts<Key>(_ keys: [Key]) -> [Key: Int] {
        Dictionary(grouping: keys) { $0 }.mapValues(\.count)
    }

    private static func senders(_ rows: [EntryRow]) -> [SealedBy: Int] {
        OutboxStatus.parsed(counts(rows.compactMap(\.sender))) { SealedBy(parsing: $0) }
    }

    // MARK: Receipts

    mutating func count(_ receipt: ShownReceipt, at now: Int64) throws(OutboxError) -> ReceiptOutcome {
        let rows = receipts.filter { $0.id == receipt.id }
        let newest = rows.last { $0.day == Day(of: now).number }
        let known = try KnownReceipts(
            MemoryRow([
                "is_known": rows.contains { $0.number == receipt.number && $0.numberDay >= receiptDay },
                "shown": newest?.dayShownCount ?? 0, "failed": newest?.dayFailedCount ?? 0,
            ]))
        let count = ReceiptCount(of: receipt, knowing: known, at: now)
        for (outcome, number) in count.tallies { receiptTallies.add(outcome, number, at: now) }
        if let row = count.row { receipts.append(row) }
        return count.outcome
    }

    func report(_ days: Int, at now: Int64) throws(OutboxError) -> ReceiptReport {
        let first = Day(firstOf: days, at: now)
        let start = first.start
        let last = Dictionary(receipts.map { ($0.id, $0.arrived) }, uniquingKeysWith: max).filter { $0.value >= start }
        let failing = Set(receipts.filter { $0.failedCount > 0 && last[$0.id] != nil }.map(\.id))
        var reasons: [String: Set<ReceiptID>] = [:]
        for row in receipts where row.arrived >= start {
            for reason in row.reasons { reasons[reason, default: []].insert(row.id) }
        }
        let accepted = tallies.mapValues { $0.filter { $0.key == Tally.accepted } }
        let rows = [receiptTallies, accepted].joined().filter { $0.key >= first.number }.flatMap { day, counts in
            counts.map { MemoryRow(["day": day, "outcome": $0.key, "count": $0.value]) }
        }
        return try ReceiptReport(
            MemoryRow(["devices": last.count, "failing": failing.count, "registered": devices.count]), tallies: rows,
            failingDevices: reasons.mapValues(\.count))
    }
}

/// Counts by day and outcome.
typealias Tallies = [Int64: [String: Int]]

extension Tallies {
    mutating func add(_ outcome: String, _ count: Int, at now: Int64) {
        if count > 0 { self[Day(of: now).number, default: [:]][outcome, default: 0] += count }
    }
}
