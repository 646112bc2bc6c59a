/// A change that a store makes when a lease is settled. See ``Settlement/changes(to:registered:)``.
package enum LeaseChange: Hashable, Sendable {
    // MARK: The lease's entry

    /// Remove the entry, and count it under this outcome, unless it is already gone.
    case remove(outcome: String)
    /// Move the entry to the dead letters, with the lease's number of attempts, unless it is already gone.
    case bury(reason: String)

    // MARK: The device's address

    /// Record that the carrier accepts pushes for the lease's address, if the device still has it.
    case prove
    /// Remove the address.
    case dropAddress(reason: String)
    /// Keep the address, but send nothing to it.
    case disableAddress(reason: String)

    // MARK: All entries of the device

    /// Remove them, the queue, and the device's dead letters, and count them under this outcome.
    case discardAll(outcome: String)
    /// Move them to the dead letters, and remove the queue.
    case buryAll(reason: String)

    // MARK: The device's queue, if the lease still holds it

    /// Make the queue due after a delay, with this number of attempts.
    case release(after: Duration, attempts: Int)
    /// Go on to the next entry, or remove the queue if none is waiting.
    case advance
}
