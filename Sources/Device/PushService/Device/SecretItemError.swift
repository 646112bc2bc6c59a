/// Why a call to ``SecretItems`` did nothing.
package enum SecretItemError: Error, Equatable, Sendable {
    case duplicate
    /// The item doesn't exist, or has changed.
    case notFound
    /// The device hasn't been unlocked since it started.
    case locked
    /// Any other error, with the system's code.
    case other(Int32)
}
