internal import PushCore
package import PushSender
package import SealedPush

/// The database operations that the outbox needs, in an SQLite file on one host or in PostgreSQL for many. Each call is one
/// transaction, or a series of them if documented: it either completes and is durable on return, or has no effect.
///
/// A store reads and writes rows. Values decide, the same for every store, and their tests need no database:
/// - ``DueTimes`` and ``LaneSequence`` say where to look for due queues, and how many to take.
/// - ``QueueHead`` judges a queue's oldest entry; the store carries out the ``QueueVerdict``.
/// - ``Settlement`` turns the outcome of a lease into the ``LeaseChange``s that the store makes.
/// - ``ReceiptCount`` turns a receipt into tallies and into the facts to keep about its device.
/// - ``DeviceChange`` and ``RegistryRules`` decide about registrations.
package protocol OutboxStore: Sendable {
    /// The clock that the courier uses for its own times, such as how long it holds a lease or pauses.
    var clock: OutboxClock { get }

    // MARK: Devices

    /// Creates or replaces devices, all or none, each as its ``DeviceChange`` decides. Throws the errors of
    /// ``RegistryRules`` and of the changes.
    func register(_ changes: [DeviceChange]) async throws(OutboxError) -> [RegistrationChange]
    /// Removes a device and its waiting pushes, and returns the number of pushes, or `nil` if its row is gone or the
    /// condition is false. Nothing changes between the condition and the removal.
    func remove(_ device: FoundDevice, if condition: @escaping DeviceCondition) async throws(OutboxError) -> Int?
    /// Returns devices, in ascending order of their names, or for `rows` of their numbers.
    func devices(_ selection: DeviceSelection) async throws(OutboxError) -> [FoundDevice]

    /// Removes other data that identifies a user or their devices: idempotency keys, by audience, and receipts.
    func forget(audiences: [String], receipts: [ReceiptID]) async throws(OutboxError)
    /// Invalidates a user's logins issued up to this moment, in milliseconds since 1970.
    func endLogins(of user: UserName, at moment: Int64) async throws(OutboxError)
    func loginsEnded(for user: UserName) async throws(OutboxError) -> Int64?

    // MARK: Messages

    /// Reads the next devices that a message goes to. For a broadcast, that is a new range, starting where earlier calls
    /// with the same key stopped. If no new range is left, it is one that was started but not stored. Throws
    /// `unknownDevice`, `unknownUser`, or `keyUsedForOthers`.
    func candidates(for order: EnqueueOrder) async throws(OutboxError) -> EnqueueBatch
    /// Stores a batch's sealed pushes. Returns false and stores nothing if a device has changed since it was read, or
    /// if another caller has stored the batch.
    func enqueue(
        _ sealed: [EnqueueBatch.Sealed], of batch: EnqueueBatch, _ order: EnqueueOrder
    ) async throws(OutboxError) -> Bool

    func outcomes(of message: MessageID) async throws(OutboxError) -> [MessageOutcome]

    // MARK: Leases

    /// Records the outcomes of leases, extends some, and takes new ones. A lease may have expired and been taken by another
    /// courier in the meantime. Even then, the carrier's response about the entry or the address is still true. Only the
    /// device's place in the queue is left to the new holder.
    func settle(_ exchange: LeaseExchange) async throws(OutboxError) -> LeaseAnswer
    /// Whether the carrier has accepted a push for any device's current address.
    func hasProvenAddress(of carrier: Carrier) async throws(OutboxError) -> Bool
    /// Returns the time until a push comes due: zero or less if one is due, or `nil` if none is waiting.
    func timeUntilDue(by carrier: Carrier) async throws(OutboxError) -> Duration?
    /// Sleeps until any process enqueues a push, or until the duration is over. May sleep longer if the store can tell that
    /// nothing is due. Returns early if the task is canceled.
    func rest(for duration: Duration, by carrier: Carrier) async

    // MARK: Upkeep

    /// Requeues dead letters, for one reason or all, and reenables their addresses, in several transactions.
    func retry(reason: String?) async throws(OutboxError) -> Int
    /// Makes deferred pushes due at once, and returns the number of queues.
    func retryNow() async throws(OutboxError) -> Int
    /// Deletes pushes, in several transactions.
    func purge(_ scope: PurgeScope) async throws(OutboxError) -> Int
    func status() async throws(OutboxError) -> OutboxStatus
    func deadLetters(reason: String?, offset: Int, limit: Int) async throws(OutboxError) -> [DeadLetter]

    /// Writes a few bytes durably.
    func requireWritable() async throws(OutboxError)

    // MARK: The key's mark

    /// Returns the mark of the outbox's key, or `nil` if it has no key.
    func mark() async throws(OutboxError) -> [UInt8]?
    func setMark(_ mark: [UInt8]) async throws(OutboxError)

    // MARK: Receipts

    /// Counts receipts and refusals, and returns the outcome of each receipt, in order.
    func count(_ receipts: [ShownReceipt], refused: [ReceiptError: Int]) async throws(OutboxError) -> [ReceiptOutcome]
    /// Returns the report for the last `days` days, including today.
    func receipts(days: Int) async throws(OutboxError) -> ReceiptReport
    func receipts(of id: ReceiptID) async throws(OutboxError) -> ReceiptDevice?
}

package struct DeviceChange: Sendable {
    package let name: DeviceName
    /// The user who was logged in on the device before, if it was a different one.
    package var previous: UserName?
    let key: OutboxKey?
    /// A record that was submitted and verified. If the same record is stored, it isn't verified again.
    package var record: DeviceRecord?
    /// The maximum number of devices for the user.
    package var deviceLimit = Int.max
    let apply: @Sendable (RegisteredDevice?) throws(OutboxError) -> RegisteredDevice

    /// Reads the device's row, if there is one. Throws `damagedDevice`.
    package func known(_ row: (some OutboxRow)?) throws(OutboxError) -> (id: Int64, stored: StoredDevice)? {
        guard let row else { return nil }
        let id = try row.int("id")
        do throws(OutboxError) { return (id, try StoredDevice(row, knowing: record)) } catch {
            throw .damagedDevice(name)
        }
    }

    /// Returns the new state for the old one. May be called repeatedly. No other caller changes the device in the meantime.
    package func next(_ known: StoredDevice?) throws(OutboxError) -> StoredDevice {
        if let key, let known, !key.accepts(known) { throw .forged(name) }
        let device = try apply(known?.device)
        return StoredDevice(device: device, codes: key?.codes(of: device) ?? DeviceCodes(), isSealedToItsKey: true)
    }
}

package enum DeviceSelection: Hashable, Sendable {
    case named(DeviceName)
    case of(UserName)
    case enrolled(EnrollmentPublicKey)
    /// `after` is a name as stored.
    case page(after: [UInt8]?, limit: Int)
    case rows(from: Int64, limit: Int)
}

package typealias DeviceCondition = @Sendable (FoundDevice) -> Bool

/// A device's row.
package struct FoundDevice: Sendable {
    /// The row's number.
    package let row: Int64
    /// The names as stored, which may be anything.
    package let name: [UInt8]
    let user: [UInt8]
    /// The device, or `nil` if the row was tampered with and isn't a valid device.
    let stored: StoredDevice?

    package init(_ row: some OutboxRow) throws(OutboxError) {
        self.row = try row.int("id")
        name = try row.optionalTextBytes("name") ?? []
        user = try row.optionalTextBytes("user_name") ?? []
        stored = try? StoredDevice(row)
    }

    /// Returns the reason why the device can't be used, or nil if it can.
    func obstacle(_ key: OutboxKey?) -> UnusableDevice.Reason? {
        guard let stored else { return .damaged }
        return key?.accepts(stored) ?? true ? nil : .forged
    }
}

/// A store's row. Throws `damaged` if a column has the wrong type or is NULL, because the database was tampered with.
package protocol OutboxRow {
    func optionalInt(_ column: String) throws(OutboxError) -> Int64?
    /// Returns a text's bytes, which may not be UTF-8.
    func optionalTextBytes(_ column: String) throws(OutboxError) -> [UInt8]?
    func optionalBytes(_ column: String) throws(OutboxError) -> [UInt8]?
    func optionalBool(_ column: String) throws(OutboxError) -> Bool?
    /// Returns the recipient key, from the column `recipient`, or `nil` if there is none.
    func recipient() throws(OutboxError) -> DevicePublicKey?
}

extension OutboxRow {
    package func optionalText(_ column: String) throws(OutboxError) -> String? {
        guard let bytes = try optionalTextBytes(column) else { return nil }
        return try known(String(strictUTF8: bytes))
    }

    package func int(_ column: String) throws(OutboxError) -> Int64 { try known(optionalInt(column)) }
    package func text(_ column: String) throws(OutboxError) -> String { try known(optionalText(column)) }
    package func bytes(_ column: String) throws(OutboxError) -> [UInt8] { try known(optionalBytes(column)) }
    package func bool(_ column: String) throws(OutboxError) -> Bool { try known(optionalBool(column)) }

    /// Returns a count, clamped to 0 through 2^40, so that sums of counts can't overflow.
    package func count(_ column: String) throws(OutboxError) -> Int { Int(min(max(try int(column), 0), 1 << 40)) }

    package func recipient() throws(OutboxError) -> DevicePublicKey? {
        guard let bytes = try optionalBytes("recipient") else { return nil }
        return try known(DevicePublicKey(bytes: bytes))
    }

    package func outcome() throws(OutboxError) -> MessageOutcome {
        (try int("device"), try optionalText("name"), try text("outcome"), try count("count"))
    }

    /// Returns the time in a column of milliseconds since 1970.
    func time(_ column: String) throws(OutboxError) -> Timestamp { Timestamp(clamping: try int(column) / 1_000) }

    private func known<Value>(_ value: Value?) throws(OutboxError) -> Value {
        guard let value else { throw .damaged }
        return value
    }
}

package typealias SettledLease = (lease: Lease, settlement: Settlement)

/// The outcomes that a courier submits and the leases that it requests, in one exchange.
package struct LeaseExchange: Sendable {
    package var settled: [SettledLease] = []
    /// The leases to hold for `hold` from now on.
    package var extended: [Lease] = []
    package var hold: Duration = .zero
    package var order: LeaseOrder?
}

package struct LeaseAnswer: Sendable {
    package var leases: [Lease] = []
    /// The outcomes to submit again soon, because another process is enqueueing to these devices right now.
    package var unsettled: [SettledLease] = []

    package init() {}
}
