package import PushSender
package import SealedPush

/// What the outbox needs of a database. Two kinds keep this promise: a file of SQLite's on one host, PostgreSQL for many.
///
/// Each call is one transaction, or a series of them where it says so: done as a whole and durable on return, or not at all.
/// What is decided about devices, messages and refusals is decided above, the same for all; a store keeps rows.
package protocol OutboxStore: Sendable {
    /// What the courier measures its own time by: how long it holds a lease, how long it pauses.
    var clock: OutboxClock { get }

    // MARK: Devices

    /// Makes or replaces devices, all or none, each as ``DeviceChange`` decides.
    ///
    /// - Throws: what ``RegistryRules`` refuse, and what the changes throw.
    func register(_ changes: [DeviceChange]) async throws(OutboxError) -> [RegistrationChange]
    /// Forgets a device and what waits for it; returns how many pushes that were. Throws `unknownDevice`.
    func remove(_ name: DeviceName) async throws(OutboxError) -> Int
    /// Devices by name, ascending.
    func devices(_ selection: DeviceSelection) async throws(OutboxError) -> [FoundDevice]

    /// Removes what names a person or their devices elsewhere: idempotency keys, by audience, and receipts.
    func forget(audiences: [String], receipts: [ReceiptID]) async throws(OutboxError)
    /// Notes until when a user's logins do not count, in milliseconds since 1970.
    func endLogins(of user: UserName, at moment: Int64) async throws(OutboxError)
    func loginsEnded(for user: UserName) async throws(OutboxError) -> Int64?

    // MARK: Messages

    /// Reads the next devices that a message goes to. For everyone, that is a range nobody has begun yet, from where earlier
    /// calls with the same key have stopped, then one that was begun and not stored.
    ///
    /// - Throws: `unknownDevice`, `unknownUser`, `keyUsedForOthers`.
    func candidates(for order: EnqueueOrder) async throws(OutboxError) -> EnqueueBatch
    /// Stores what was sealed for a batch. False, and nothing stored, where a device is not as it was read, or somebody else has
    /// stored the batch.
    func enqueue(
        _ sealed: [EnqueueBatch.Sealed], of batch: EnqueueBatch, _ order: EnqueueOrder
    ) async throws(OutboxError) -> Bool

    func outcomes(of message: MessageID) async throws(OutboxError) -> [MessageOutcome]

    // MARK: Leases

    /// Notes what became of leases, holds on to some, and takes new ones.
    ///
    /// A lease may have been lost in the meantime, to whoever took it after its end. What its carrier said about the entry or the
    /// address is true all the same; only the device's place in the queue is then left to the new holder.
    func settle(_ exchange: LeaseExchange) async throws(OutboxError) -> LeaseAnswer
    /// Whether the carrier has taken a push for a device's present address, of whichever device.
    func hasProvenAddress(of carrier: Carrier) async throws(OutboxError) -> Bool
    /// How long until something comes due; zero or less where something is, nil where nothing waits.
    func timeUntilDue(by carrier: Carrier) async throws(OutboxError) -> Duration?
    /// Sleeps until something was enqueued by whichever process, or a while is over: that long, or longer where the store can
    /// tell that nothing is due. Returns soon where the task is cancelled.
    func rest(for duration: Duration, by carrier: Carrier) async

    // MARK: Upkeep

    /// Moves dead letters back, of one reason or all, and takes their addresses into use again; in several transactions.
    func retry(reason: String?) async throws(OutboxError) -> Int
    /// Makes due at once what was put off; returns for how many queues.
    func retryNow() async throws(OutboxError) -> Int
    /// Throws pushes away; in several transactions.
    func purge(_ scope: PurgeScope) async throws(OutboxError) -> Int
    func status() async throws(OutboxError) -> OutboxStatus
    func deadLetters(reason: String?, offset: Int, limit: Int) async throws(OutboxError) -> [DeadLetter]

    /// Writes a few bytes, durably.
    func requireWritable() async throws(OutboxError)

    // MARK: The key's mark

    /// What the outbox is marked with; nil if it has no key.
    func mark() async throws(OutboxError) -> [UInt8]?
    func setMark(_ mark: [UInt8]) async throws(OutboxError)

    // MARK: Receipts

    /// Counts receipts, and what was refused; returns what became of each, in their order.
    func count(_ receipts: [ShownReceipt], refused: [ReceiptError: Int]) async throws(OutboxError) -> [ReceiptOutcome]
    /// The last so many days, today included.
    func receipts(days: Int) async throws(OutboxError) -> ReceiptReport
    func receipts(of id: ReceiptID) async throws(OutboxError) -> ReceiptDevice?
}

/// One device as it is to be from now on.
package struct DeviceChange: Sendable {
    package let name: DeviceName
    /// Who was logged in there before, where that was another.
    package var previous: UserName?
    let key: OutboxKey?
    /// A record that was handed in and verified: where the same one is stored, it needs not be verified again.
    package var record: DeviceRecord?
    /// How many devices the user may have.
    package var deviceLimit = Int.max
    let apply: @Sendable (RegisteredDevice?) throws(OutboxError) -> RegisteredDevice

    /// The new state, made of the old one, which nobody else changes meanwhile; may be called more than once.
    package func next(_ known: StoredDevice?) throws(OutboxError) -> StoredDevice {
        if let key, let known, !key.accepts(known) { throw .forged(name) }
        let device = try apply(known?.device)
        return StoredDevice(device: device, codes: key?.codes(of: device) ?? DeviceCodes(), isSealedToItsKey: true)
    }
}

/// Which devices are read.
package enum DeviceSelection: Hashable, Sendable {
    case named(DeviceName)
    case of(UserName)
    case enrolled(EnrollmentPublicKey)
    case page(after: String?, limit: Int)
}

/// A device's row.
package struct FoundDevice: Sendable {
    /// As it stands there.
    let name: String
    /// Nil if the row is not a device: somebody has been in the database.
    let stored: StoredDevice?

    package init(_ row: some OutboxRow) throws(OutboxError) {
        name = try row.text("name")
        stored = try? StoredDevice(row)
    }
}

/// A row of a store's database. A column of another type than is asked for, or NULL where that is not expected, throws
/// `damaged`: somebody has been in the database.
package protocol OutboxRow {
    func optionalInt(_ column: String) throws(OutboxError) -> Int64?
    func optionalText(_ column: String) throws(OutboxError) -> String?
    func optionalBytes(_ column: String) throws(OutboxError) -> [UInt8]?
    func optionalBool(_ column: String) throws(OutboxError) -> Bool?
    /// The key that is sealed to, of the column `recipient`; nil if there is none.
    func recipient() throws(OutboxError) -> DevicePublicKey?
}

extension OutboxRow {
    package func int(_ column: String) throws(OutboxError) -> Int64 { try known(optionalInt(column)) }
    package func text(_ column: String) throws(OutboxError) -> String { try known(optionalText(column)) }
    package func bytes(_ column: String) throws(OutboxError) -> [UInt8] { try known(optionalBytes(column)) }
    package func bool(_ column: String) throws(OutboxError) -> Bool { try known(optionalBool(column)) }

    /// A number of things: 0 to 2^40, so that no sum of such numbers is too large.
    package func count(_ column: String) throws(OutboxError) -> Int { Int(min(max(try int(column), 0), 1 << 40)) }

    package func recipient() throws(OutboxError) -> DevicePublicKey? {
        guard let bytes = try optionalBytes("recipient") else { return nil }
        return try known(DevicePublicKey(bytes: bytes))
    }

    package func outcome() throws(OutboxError) -> MessageOutcome {
        (try int("device"), try optionalText("name"), try text("outcome"), try count("count"))
    }

    /// Of a column with milliseconds since 1970.
    func time(_ column: String) throws(OutboxError) -> Timestamp { Timestamp(clamping: try int(column) / 1_000) }

    private func known<Value>(_ value: Value?) throws(OutboxError) -> Value {
        guard let value else { throw .damaged }
        return value
    }
}

package typealias SettledLease = (lease: Lease, settlement: Settlement)

/// What a courier hands in and asks for at once.
package struct LeaseExchange: Sendable {
    package var settled: [SettledLease] = []
    /// Those that are held for `hold` from now on.
    package var extended: [Lease] = []
    package var hold: Duration = .zero
    package var order: LeaseOrder?
}

package struct LeaseAnswer: Sendable {
    package var leases: [Lease] = []
    /// What is to be handed in once more, soon: somebody is enqueueing to these devices at this moment.
    package var unsettled: [SettledLease] = []

    package init() {}
}
