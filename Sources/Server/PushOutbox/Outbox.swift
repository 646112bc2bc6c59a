internal import PushCore
public import PushSender
public import SealedPush

#if !Server
#error("this needs the `Server` trait: .package(…, traits: [\"Server\"]), or swift build --traits Server")
#endif

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A server's registry of devices and its durable queue of sealed pushes, in a single SQLite file, or in PostgreSQL if several
/// hosts share it.
///
/// Sending has two halves that fail in different ways. Your back end has a message now, and wants to go on. Apple may be slow,
/// or out of reach for an hour. An outbox stands between them. The back end enqueues, which takes milliseconds and either
/// succeeds durably or throws. A ``Courier``, in this process or another, does the rest for as long as it takes.
///
/// ```swift
/// let outbox = try Outbox(at: "/var/lib/app/outbox.db")
/// try await outbox.register([device])
/// try await outbox.enqueue(OutgoingMessage(Content(body: "Lunch?")), to: .user("nina"), from: sealer)
/// let report = try await Courier(for: outbox, through: transport).run(until: .empty)
/// ```
/// A push's life:
/// 1. ``enqueue(_:to:from:includingUnverified:progress:)`` finds the devices, seals for each, and stores the payloads in one
///    transaction per thousand devices. Content is never written, and can't be read back.
/// 2. A courier leases it, sends it, and records the outcome. It is then gone, or deferred to a later time.
/// 3. A push that a service refuses for a reason that won't pass becomes a dead letter, kept for an operator. ``retry(reason:)``
///    requeues such pushes, and ``purge(_:)`` deletes them.
/// 4. The outcome for each device is known for 30 days; see ``report(on:)``. Receipts tell whether devices showed messages;
///    see ``receipts(days:)``.
///
/// Promises:
/// - When `enqueue` returns, the push is on the disk and is sent at least once, despite crashes and power failures. A device
///   shows it once, because a repetition has the same identifiers. With an idempotency key, a repeated call is harmless.
/// - A device's pushes are sent in the order in which they were enqueued. Devices don't wait for one another.
/// - Someone who reads the database learns who gets pushes and when, but no content. With an ``OutboxKey``, a device that
///   someone adds there, or a push that they change, is refused.
///
/// An outbox doesn't send at a chosen time, and doesn't limit what an account may enqueue.
///
/// It can be used from many tasks, and many processes can share one. It uses about 20 MB of memory, however many devices or
/// pushes there are. Why SQLite: Docs/Decisions/0019-an-outbox-in-sqlite.md.
public final class Outbox: Sendable {
    let store: any OutboxStore
    let key: OutboxKey?
    private let rightSince = Locked<Int64?>(nil)
    var clock: OutboxClock { store.clock }

    /// Opens the outbox file, or creates it if it doesn't exist.
    ///
    /// Several processes can open the same file at once on a local disk, but not on a network file system. The caller must
    /// own the file, SQLite's companion files (`-wal`, `-shm`, `-journal`), and their folder (which root may own). No other
    /// user may be able to write to them, sticky bit or not: anyone who can create files there decides what is sent to
    /// whom. Only the owner can read them.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - key: The key that authenticates the rows; an empty outbox requires it from then on. `nil` for an outbox without one.
    /// - Throws: `exposed`, `damaged`, `foreign`, `otherSchema`, `cannotOpen`, `readOnly`, `diskFull`, `busy`.
    public convenience init(at path: String, key: OutboxKey? = nil) throws(OutboxError) {
        try self.init(at: path, clock: .system, key: key)
    }

    /// Waits `busyLimit` seconds for another process that is writing. With `isReadOnly`, opens a file that can't be
    /// written, for inspection only.
    package convenience init(
        at path: String, clock: OutboxClock, busyLimit: Double = 30, isReadOnly: Bool = false, key: OutboxKey? = nil
    ) throws(OutboxError) {
        self.init(try SQLiteStore(at: path, clock: clock, busyLimit: busyLimit, isReadOnly: isReadOnly), key: key)
    }

    /// Creates an outbox on another store.
    package init(_ store: some OutboxStore, key: OutboxKey? = nil) {
        self.store = store
        self.key = key
    }

    // MARK: Codes

    /// Checks that the given key is the outbox's. An outbox gets its key with its first row, or never. A process that has
    /// the key checks the rows' codes, whatever the database says. With `isMarking`, marks an empty outbox with the key.
    /// Throws `keyNeeded` or `otherKey`.
    func requireKey(marking isMarking: Bool = true) async throws(OutboxError) {
        if let start = rightSince.withLock({ $0 }), (start...start + 60_000).contains(clock.uptime()) { return }
        let mark = try await store.mark()
        if let key, mark == nil {
            let status = try await store.status()
            guard status.deviceCount + status.waitingCount + status.deadLetters.count == 0 else { throw .otherKey }
            guard isMarking else { return }
            try await store.setMark(key.mark)
        } else if let mark {
            guard let key else { throw .keyNeeded }
            guard ConstantTime.areEqual(key.mark, mark) else { throw .otherKey }
        }
        rightSince.withLock { $0 = clock.uptime() }
    }

    /// Throws if the outbox isn't marked with this key anymore, or if it can't be written. Writes a few bytes durably.
    public func requireWritable() async throws(OutboxError) {
        rightSince.withLock { $0 = nil }
        try await store.requireWritable()
        try await requireKey(marking: false)
    }

    /// Throws if any registration would fail, because of the key, the login's rights, or the database. Like a registration,
    /// it marks an empty outbox with the key.
    package func requireRegistering() async throws(OutboxError) {
        try await requireKey()
        try await store.requireRegistering()
    }

    /// Returns the rows that ``devices(after:limit:)`` omits because they aren't valid registrations. Use ``remove(row:)`` to
    /// remove them. Without the outbox's key, rows that were forged aren't among them. Reads every device, a thousand at a
    /// time.
    public func unusableDevices() async throws(OutboxError) -> [UnusableDevice] {
        var unusable: [UnusableDevice] = []
        var start = Int64.min
        while true {
            let page = try await store.devices(.rows(from: start, limit: Self.pageCount))
            unusable += page.compactMap { UnusableDevice($0, key) }
            guard page.count == Self.pageCount, let last = page.last?.row, last < .max else { return unusable }
            start = last + 1
        }
    }

    /// The number of rows that are read at once.
    static let pageCount = 1_000

    // MARK: Upkeep

    /// Returns the outbox's counts, from a single snapshot. Takes about 200 ms for a million pushes.
    public func status() async throws(OutboxError) -> OutboxStatus { try await store.status() }

    /// Returns what happened to a message in the last 30 days, or `nil` if it is unknown or had no recipients.
    ///
    /// - Parameter message: The ID from ``EnqueueReport/id``.
    public func report(on message: MessageID) async throws(OutboxError) -> MessageReport? {
        MessageReport(try await store.outcomes(of: message))
    }

    /// Returns dead letters, oldest first, one page at a time.
    ///
    /// - Parameters:
    ///   - reason: The only reason to include, or `nil` for every reason.
    ///   - offset: The number of dead letters to skip.
    ///   - limit: The size of a page.
    public func deadLetters(
        reason: String? = nil, offset: Int = 0, limit: Int = 100
    ) async throws(OutboxError) -> [DeadLetter] {
        try await store.deadLetters(reason.map { .reason($0) } ?? .all, offset: offset, limit: limit)
    }

    /// Requeues dead letters, byte for byte as they were, and returns how many. Also reenables addresses that were disabled
    /// for the same reasons: by retrying, the operator confirms that the cause is gone.
    ///
    /// Dead letters for devices without an address aren't requeued. If a device has newer pushes waiting, its requeued push
    /// goes out before them.
    public func retry(reason: String? = nil) async throws(OutboxError) -> Int {
        var count = 0
        // Begins with the devices that no other transaction holds, so that a held one delays only itself.
        for isWaiting in [false, true] {
            let requeuing = Requeuing(reason: reason, isWaiting: isWaiting)
            count += try await inBatches { limit throws(OutboxError) in try await store.requeue(requeuing, limit: limit)
            }
        }
        return count
    }

    /// Requeues dead letters that aren't expired: the clock was wrong when they were buried, and is right again.
    func retryUnexpired() async throws(OutboxError) {
        guard try await !store.deadLetters(.reason(Tally.expired), offset: 0, limit: 1).isEmpty else { return }
        _ = try await retry(reason: Tally.expired)
    }

    /// Makes every deferred push due now; leased pushes stay with their holder. Returns the number of devices that had
    /// deferred pushes.
    @discardableResult public func retryNow() async throws(OutboxError) -> Int { try await store.retryNow() }

    /// Deletes pushes, and returns how many. Runs in transactions of a thousand, so that other callers can run in between.
    @discardableResult public func purge(_ scope: PurgeScope) async throws(OutboxError) -> Int {
        let plan = PurgePlan(scope, at: scope.includesRecords ? try await store.removeRecords() : nil)
        var count = 0
        if let condition = plan.deadLetters {
            count += try await inBatches { limit throws(OutboxError) in
                try await store.removeDeadLetters(condition, limit: limit)
            }
        }
        if let condition = plan.entries {
            count += try await inBatches { limit throws(OutboxError) in
                try await store.removeEntries(condition, outcome: plan.outcome, limit: limit)
            }
        }
        return count
    }

    /// Repeats a transaction until it processes fewer rows than it may, and returns the total.
    private func inBatches(_ body: (Int) async throws(OutboxError) -> Int) async throws(OutboxError) -> Int {
        var total = 0
        while true {
            let count = try await body(Self.pageCount)
            total += count
            if count < Self.pageCount { return total }
        }
    }

    // MARK: Receipts

    /// Counts a receipt durably. Takes about 10 ms, most of it for the disk.
    @discardableResult public func count(_ receipt: ShownReceipt) async throws(OutboxError) -> ReceiptOutcome {
        try await count([receipt])[0]
    }

    /// Counts many receipts in one transaction, together with the numbers of refused ones, so that an operator sees them.
    ///
    /// - Returns: The outcome of each receipt, in order.
    @discardableResult
    public func count(
        _ receipts: [ShownReceipt], refused: [ReceiptError: Int] = [:]
    ) async throws(OutboxError) -> [ReceiptOutcome] {
        try await store.count(receipts, refused: refused)
    }

    /// Returns what devices reported in the last `days` days, including today; at most 60 days.
    public func receipts(days: Int = 30) async throws(OutboxError) -> ReceiptReport {
        try await store.receipts(days: max(1, min(days, 60)))
    }

    /// Returns a device's last receipt time and its counts, or `nil` if it has sent no receipts for 60 days.
    public func receipts(of id: ReceiptID) async throws(OutboxError) -> ReceiptDevice? {
        try await store.receipts(of: id)
    }
}

extension Duration {
    /// The duration in milliseconds, truncated.
    package var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
