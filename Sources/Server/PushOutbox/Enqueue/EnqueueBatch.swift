import PushSender
package import SealedPush

/// A batch of the devices that a message goes to, as read from the store.
package struct EnqueueBatch: Sendable {
    /// Contains nil for each device whose row isn't valid.
    package let candidates: [Candidate?]
    /// The range of a broadcast that this batch covers; nil for a device or user.
    package let range: EnqueueRange?
    /// The number of pushes enqueued by this and earlier calls before this batch.
    package let alreadyEnqueuedCount: Int
    /// The message's ID from an earlier call, or `nil` if there was none.
    package let message: MessageID?
    /// Whether everything has been enqueued.
    package private(set) var isDone = false

    package init(
        candidates: [Candidate?], range: EnqueueRange? = nil, alreadyEnqueuedCount: Int, message: MessageID? = nil
    ) {
        self.candidates = candidates
        self.message = message
        self.range = range
        self.alreadyEnqueuedCount = alreadyEnqueuedCount
    }

    package init(doneWith alreadyEnqueuedCount: Int, message: MessageID? = nil) {
        self.init(candidates: [], alreadyEnqueuedCount: alreadyEnqueuedCount, message: message)
        isDone = true
    }

    package struct Candidate: Sendable {
        package let device: Int64
        package let revision: Int64
        package let names: DeviceRowNames
        package let hasToken: Bool
        package let key: SealingKey
        /// The row's code, made with an ``OutboxKey``.
        package let code: [UInt8]?

        package init(_ row: some OutboxRow, hasToken: Bool) throws(OutboxError) {
            device = try row.int("id")
            revision = try row.int("revision")
            names = try DeviceRowNames(row)
            self.hasToken = hasToken
            key = try SealingKey(row)
            code = try row.optionalBytes("pin_code")
        }
    }

    /// A push that was sealed for a candidate. A store binds the entry's columns as they are, and derives none of them.
    package struct Sealed: Sendable {
        package let device: Int64
        package let revision: Int64
        package let entry: EntryRow
        /// The time at which the push expires, in milliseconds; `nil` if neither caller nor content specified one.
        let end: Int64?
        /// The number of days for which the device keeps a retired key, or `nil` if no record specifies it.
        let keeps: Int64?

        /// Returns the time until which an entry that is enqueued now may be sent. No entry is kept longer than
        /// ``EnqueueOrder/lifetime``, or longer than its device keeps the key.
        package func sendUntil(at now: Int64) -> Int64 {
            min(end ?? .max, now + EnqueueOrder.lifetime, keeps.map { now + $0 * Day.milliseconds } ?? .max)
        }
    }
}

/// A range of devices by their numbers in the store: those above `start`, up to and including `last`. A caller that starts
/// a range records it, and the one that stores it removes it. Ranges aren't leased: when no new range is left, any caller
/// may take an unfinished one, and the first to store it wins. So no work waits for a process that died, and each caller
/// wastes at most one batch of sealing.
package typealias EnqueueRange = (start: Int64, last: Int64)

extension EnqueueBatch {
    /// Seals the content for every eligible device, on all cores.
    func sealed(
        _ order: EnqueueOrder, _ contents: inout PreparedContents, with sealer: Sealer, at now: Timestamp,
        skipped: inout Skipped
    ) async throws(OutboxError) -> [Sealed] {
        var usable: [Candidate] = []
        for candidate in candidates {
            guard let candidate else {
                skipped.add(.damaged)
                continue
            }
            if let reason = candidate.obstacle(order, sealer, at: now) {
                skipped.add(reason, candidate.names.device)
            } else {
                usable.append(candidate)
            }
        }
        guard !usable.isEmpty else { return [] }
        for keeps in Set(usable.map(\.key.keeps)) { contents.prepare(keeping: keeps, at: now) }
        let results = await withTaskGroup(of: [Result<Sealed, SealError>].self) { [contents = contents.results] group in
            for start in stride(from: 0, to: usable.count, by: Self.share) {
                let part = usable[start..<min(start + Self.share, usable.count)]
                group.addTask { Self.seal(part, contents, order, with: sealer) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        var sealed: [Sealed] = []
        sealed.reserveCapacity(results.count)
        let isForEveryone = order.audience == .everyone
        for result in results {
            switch result {
            case .success(let one): sealed.append(one)
            // A broadcast goes to the devices that it fits. Otherwise, the caller gets the error at once.
            case .failure(.tooLarge) where isForEveryone: skipped.add(.tooLarge)
            case .failure(.expiresTooLate) where isForEveryone: skipped.add(.expiresTooLate)
            case .failure(let error): throw .seal(error)
            }
        }
        return sealed
    }

    /// The devices of a batch that get no push.
    struct Skipped {
        private(set) var counts: [SkipReason: Int] = [:]
        /// The names of the first devices whose keys aren't hybrid.
        private(set) var notHybrid: [DeviceName] = []

        mutating func add(_ reason: SkipReason, _ name: DeviceName? = nil) {
            counts[reason, default: 0] += 1
            guard reason == .notHybrid, notHybrid.count < EnqueueReport.maximumNameCount else { return }
            if let name { notHybrid.append(name) }
        }
    }

    private static func seal(
        _ candidates: ArraySlice<Candidate>, _ contents: [Int64?: Result<PreparedContent, SealError>],
        _ order: EnqueueOrder, with sealer: Sealer
    ) -> [Result<Sealed, SealError>] {
        candidates.compactMap { candidate -> Result<Sealed, SealError>? in
            guard let recipient = candidate.key.recipient, let content = contents[candidate.key.keeps] else {
                return nil
            }
            return Result { () throws(SealError) in
                let payload = try sealer.seal(content.get(), forKey: recipient)
                let entry = EntryRow(
                    payload, priority: order.priority, expiration: order.expiration ?? payload.expires,
                    device: candidate.names.device.description, sealedBy: order.sealedBy, key: order.outboxKey)
                return Sealed(
                    device: candidate.device, revision: candidate.revision, entry: entry, end: order.end(of: payload),
                    keeps: candidate.key.keeps)
            }
        }
    }

    /// The number of devices in one transaction: few enough to hold the lock for only a few milliseconds, and enough to
    /// spread the cost of a disk sync.
    package static let maximumCount = 1_000
    /// The number of devices that one core seals for at a time.
    private static let share = 64
}

extension EnqueueBatch.Candidate {
    fileprivate func obstacle(_ order: EnqueueOrder, _ sealer: Sealer, at now: Timestamp) -> SkipReason? {
        guard order.outboxKey?.accepts(self) ?? true else { return .forged }
        guard names.topic == sealer.topic else { return .otherTopic }
        guard hasToken else { return .noToken }
        return key.obstacle(
            atSecond: now.secondsSince1970, includingUnverified: order.includesUnverified,
            requiringHybrid: sealer.requiresHybrid)
    }
}
