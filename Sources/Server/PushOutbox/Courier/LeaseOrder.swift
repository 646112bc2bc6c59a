package import PushSender

/// A courier's request for leases: their number, lanes, and duration.
package struct LeaseOrder: Sendable {
    package let carrier: Carrier
    package let count: Int
    /// How many of them go to the considerate lane first if pushes are waiting there, so that it never starves.
    package let considerateCount: Int
    package let duration: Duration
    /// The first lease's number; the others are consecutive.
    package let firstNumber: Int64
    /// Whether expired entries are removed. Otherwise they become dead letters, which the next purge removes.
    package var removesExpired = true
}
