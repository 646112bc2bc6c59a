package import PushSender
package import SealedPush

/// The database operations that the outbox needs, in an SQLite file on one host or in PostgreSQL for many. Each call is one
/// transaction, which either completes and is durable on return, or has no effect. In PostgreSQL, `settle`, `enqueue`, and
/// `retryNow` may take several, so a call that throws may have done a part; to repeat it is harmless.
///
/// A store reads and writes rows. Values decide, the same for every store, and their tests need no database:
/// - ``DueTimes`` and ``LaneSequence`` say where to look for due queues, and how many to take.
/// - ``QueueHead`` judges a queue's oldest entry; the store carries out the ``QueueVerdict``.
/// - ``Settlement`` turns the outcome of a lease into the ``LeaseChange``s that the store makes.
/// - ``PushEnding`` says how the end of a push is counted, exactly once.
/// - ``ReceiptCount`` turns a receipt into tallies and into the facts to keep about its device.
/// - ``Registration`` decides who may register a device, and what that changes.
/// - ``PurgePlan``, ``RecordLimits``, and ``Requeuing`` select the rows of a purge or a retry. A ``RowCondition`` has a form in SQL.
/// - ``StatusCount`` has the limits by which rows are counted.
package protocol OutboxStore: Sendable {
    /// The clock that the courier uses for its own times, such as how long it holds a lease or pauses.
    var clock: OutboxClock { get }

    // MARK: Devices

    /// Creates or replaces devices, all or none, each as its ``Registration`` decides. Throws its errors, and those of the
    /// changes.
    func register(_ changes: [DeviceChange]) async throws(OutboxError) -> [RegistrationChange]
    /// Throws if no registration could succeed. Changes nothing.
    func requireRegistering() async throws(OutboxError)
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

    /// Requeues at most `limit` dead letters, in the order of their numbers for each device, and reenables addresses. Returns
    /// the number of letters.
    func requeue(_ requeuing: Requeuing, limit: Int) async throws(OutboxError) -> Int
    /// Makes deferred pushes due at once, and returns the number of queues.
    func retryNow() async throws(OutboxError) -> Int
    /// Deletes records that have reached their ``RecordLimits``. Returns the time, or `nil` if it's uncertain.
    func removeRecords() async throws(OutboxError) -> Int64?
    /// Deletes at most `limit` dead letters, and returns how many.
    func removeDeadLetters(_ condition: PushCondition, limit: Int) async throws(OutboxError) -> Int
    /// Deletes at most `limit` waiting pushes and the queues that become empty, except those of devices with a push in transit.
    /// Counts the pushes under the outcome, and returns how many they are.
    func removeEntries(_ condition: PushCondition, outcome: String, limit: Int) async throws(OutboxError) -> Int
    func status() async throws(OutboxError) -> OutboxStatus
    /// Returns dead letters in the order of their numbers.
    func deadLetters(_ condition: PushCondition, offset: Int, limit: Int) async throws(OutboxError) -> [DeadLetter]

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

package typealias DeviceCondition = @Sendable (FoundDevice) -> Bool

package typealias SettledLease = (lease: Lease, settlement: Settlement)
