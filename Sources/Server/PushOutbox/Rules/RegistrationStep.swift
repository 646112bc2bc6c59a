package import PushSender

/// A change that a store makes to register a device. See ``RegistrationPlan``.
package enum RegistrationStep: Hashable, Sendable {
    /// Remove another device's row, and discard all that waits for it.
    case remove(Int64)
    /// Remove another device's address.
    case dropAddress(of: Int64, reason: String)
    /// Discard all pushes of a device, waiting or dead letters, and its queue.
    case discardAll(of: Int64)
    /// Create the device's row or replace it, as in ``Registration/new``. The address remains proven only if it was, and
    /// `keepsProof` says so.
    case write(keepsProof: Bool)
    /// Hand the queue of the device's row to this carrier. If it isn't leased and is due later than `dueBy`, it becomes due
    /// then, and its attempts are forgotten. Times are in milliseconds since 1970.
    case redirect(Int64, to: Carrier, dueBy: Int64?)
}
