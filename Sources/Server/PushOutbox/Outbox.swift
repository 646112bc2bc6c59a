internal import PushCore
public import PushSender
public import SealedPush

#if !Server
    #error("this needs the trait Server: .package(…, traits: [\"Server\"]), or swift build --traits Server")
#endif

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The server's list of devices and its durable queue of sealed pushes, in one SQLite file, or in PostgreSQL where several
/// hosts share it.
///
/// What waits in it is unreadable: ``enqueue(_:to:from:priority:expiration:includingUnverified:key:progress:)`` seals and
/// stores in one step, and nothing of a message but its sealed payload is ever written. Once that call has returned, the
/// push is sent at least once, whatever is killed or loses its power; a ``Courier`` does that.
///
/// A value is safe to use from many tasks, and many processes may share an outbox. The memory it takes does not grow with
/// the number of devices or pushes: about 20 MB. Why SQLite: Docs/Decisions/0019-an-outbox-in-sqlite.md.
public final class Outbox: Sendable {
    let store: any OutboxStore
    let key: OutboxKey?
    private let rightSince = Locked<Int64?>(nil)
    var clock: OutboxClock { store.clock }

    /// Opens a file, or makes it.
    ///
    /// Several processes may open one file on a local disk (not on a network's) at once. The file, what SQLite keeps beside it
    /// (`-wal`, `-shm`, `-journal`) and their folder must be the caller's (the folder may be root's) and nobody else's to
    /// write, sticky bit or not: whoever may make files there decides what is sent to whom. Only their owner can read them.
    ///
    /// - Parameter key: what vouches for the rows, which an empty outbox has from then on; nil for one without.
    /// - Throws: `exposed`, `damaged`, `foreign`, `tooNew`, `cannotOpen`, `readOnly`, `diskFull`, `busy`.
    public convenience init(at path: String, key: OutboxKey? = nil) throws(OutboxError) {
        try self.init(at: path, clock: .system, key: key)
    }

    /// - Parameters:
    ///   - busyLimit: seconds to wait for another process that writes.
    ///   - isReadOnly: opens a file that can't be written, to look at it.
    package convenience init(
        at path: String, clock: OutboxClock, busyLimit: Double = 30, isReadOnly: Bool = false, key: OutboxKey? = nil
    ) throws(OutboxError) {
        self.init(try SQLiteStore(at: path, clock: clock, busyLimit: busyLimit, isReadOnly: isReadOnly), key: key)
    }

    /// Over another database.
    package init(_ store: some OutboxStore, key: OutboxKey? = nil) {
        self.store = store
        self.key = key
    }

    // MARK: Codes

    /// An outbox has a key from its first row on, or never. What is checked is checked by whoever has the key, whatever the
    /// database says.
    ///
    /// - Parameter isMarking: whether an empty outbox has the key from now on.
    /// - Throws: `keyNeeded`, `otherKey`.
    func requireKey(marking isMarking: Bool = true) async throws(OutboxError) {
        if let start = rightSince.withLock({ $0 }), (start...start + 60_000).contains(clock.now()) { return }
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
        rightSince.withLock { $0 = clock.now() }
    }

    /// Throws if its mark is not the key's any more, or nothing can be written: it writes a few bytes, and waits until they are
    /// durable.
    public func requireWritable() async throws(OutboxError) {
        rightSince.withLock { $0 = nil }
        try await requireKey(marking: false)
        try await store.requireWritable()
    }

    /// Devices that a send to them leaves out as `forged`. Reads them all, a thousand at a time.
    ///
    /// - Throws: `keyNeeded` without the key.
    public func forgedDevices() async throws(OutboxError) -> [DeviceName] {
        guard let key else { throw .keyNeeded }
        return try await names { device in device.stored.map { !key.accepts($0) } ?? false }
    }

    /// Devices that lists leave out, as their rows can't be read: somebody has been in the database. ``remove(_:)`` takes them
    /// away. Reads them all, a thousand at a time.
    public func damagedDevices() async throws(OutboxError) -> [DeviceName] { try await names { $0.stored == nil } }

    private func names(where isWanted: (FoundDevice) -> Bool) async throws(OutboxError) -> [DeviceName] {
        var names: [DeviceName] = []
        var last: String?
        while true {
            let page = try await store.devices(.page(after: last, limit: Self.pageCount))
            names += page.filter(isWanted).compactMap { DeviceName(parsing: $0.name) }
            guard page.count == Self.pageCount else { return names }
            last = page.last?.name
        }
    }

    /// Rows that are read at once.
    static let pageCount = 1_000

    // MARK: Upkeep

    /// Counts what there is, in one snapshot; about 200 ms for a million pushes.
    public func status() async throws(OutboxError) -> OutboxStatus { try await store.status() }

    /// What became of a message in the last 30 days; nil if it is unknown, or was enqueued for nobody.
    ///
    /// - Parameter message: from ``EnqueueReport/id``.
    public func report(on message: MessageID) async throws(OutboxError) -> MessageReport? {
        MessageReport(try await store.outcomes(of: message))
    }

    /// Dead letters, oldest first, one page at a time.
    ///
    /// - Parameters:
    ///   - reason: of this reason only.
    ///   - offset: how many to leave out.
    public func deadLetters(
        reason: String? = nil, offset: Int = 0, limit: Int = 100
    ) async throws(OutboxError) -> [DeadLetter] {
        try await store.deadLetters(reason: reason, offset: offset, limit: limit)
    }

    /// Lets dead letters be sent again, byte for byte as they were; returns how many. Addresses that were disabled for the
    /// same reasons are used again: the operator says that the cause is gone.
    ///
    /// Those whose device has lost its address stay. One whose device has newer pushes waiting goes before them.
    public func retry(reason: String? = nil) async throws(OutboxError) -> Int { try await store.retry(reason: reason) }

    /// Sends everything that was put off at the next opportunity; what is leased stays with its holder. Returns for how many
    /// devices something was put off.
    @discardableResult public func retryNow() async throws(OutboxError) -> Int { try await store.retryNow() }

    /// Throws pushes away; returns how many. In transactions of a thousand, so that others can work meanwhile.
    @discardableResult
    public func purge(_ scope: PurgeScope) async throws(OutboxError) -> Int { try await store.purge(scope) }

    // MARK: Receipts

    /// Counts a receipt, durably. About 10 ms, most of it the disk's.
    @discardableResult public func count(_ receipt: ShownReceipt) async throws(OutboxError) -> ReceiptOutcome {
        try await count([receipt])[0]
    }

    /// Counts many in one transaction, and what was refused meanwhile, for the operator to see.
    ///
    /// - Returns: what became of each, in their order.
    @discardableResult
    public func count(
        _ receipts: [ShownReceipt], refused: [ReceiptError: Int] = [:]
    ) async throws(OutboxError) -> [ReceiptOutcome] {
        try await store.count(receipts, refused: refused)
    }

    /// What devices have said in the last `days` days, today included, at most 60.
    public func receipts(days: Int = 30) async throws(OutboxError) -> ReceiptReport {
        try await store.receipts(days: max(1, min(days, 60)))
    }

    /// When a device's last receipt came, and how much it has told; nil where none has come for 60 days.
    public func receipts(of id: ReceiptID) async throws(OutboxError) -> ReceiptDevice? {
        try await store.receipts(of: id)
    }
}

/// What to throw away.
public enum PurgeScope: Hashable, Sendable {
    /// Only what is past its time: stale pushes, and whatever is older than 30 days. A courier does this by itself.
    case stale
    /// Dead letters, of one reason or of all.
    case deadLetters(reason: String?)
    /// What was sealed by one key, waiting or a dead letter: that key was stolen. Nothing else, also not what is stale. What
    /// is on its way can't be called back.
    case sealed(by: SealedBy)
    /// Everything that waits, too. What is on its way can't be called back.
    case everything
}

/// Where time comes from: the wall clock, since several processes and several days share an outbox.
package struct OutboxClock: Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package var now: @Sendable () -> Int64
    package var sleep: @Sendable (Duration) async -> Void

    package init(now: @escaping @Sendable () -> Int64, sleep: @escaping @Sendable (Duration) async -> Void) {
        self.now = now
        self.sleep = sleep
    }

    package static let system = OutboxClock(
        now: { Int64(Date().timeIntervalSince1970 * 1_000) }, sleep: { try? await Task.sleep(for: $0) })
}

extension Duration {
    /// Cut to the millisecond.
    package var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
