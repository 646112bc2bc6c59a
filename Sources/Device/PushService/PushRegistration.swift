public import SealedPush

/// The result of ``PushServerClient/register(_:token:environment:rotatingOlderThan:)``.
public struct PushRegistration: Sendable {
    /// The changes to the keys; nil if that step failed.
    public internal(set) var maintenance: DeviceMaintenance?
    /// The sender set from the server, if it was accepted.
    public internal(set) var senderSet: SenderSet?
    /// The server's name for this device.
    public internal(set) var device: String?
    /// Whether the server has the token and record, and the device has proven each key that the server asked about.
    public internal(set) var isRegistered = false
    /// The failed steps, in order; empty if all succeeded. Safe to log, because it contains no secrets.
    public internal(set) var problems: [Problem] = []

    /// A failed step and its error.
    public struct Problem: Equatable, Sendable, CustomStringConvertible {
        /// The step that failed.
        public let step: Step
        /// Why the step failed.
        public let error: PushServerError
        /// One line for the app's own log.
        public var description: String { "\(step.rawValue): \(error)" }
    }

    /// The steps, in order.
    public enum Step: String, Sendable, CaseIterable {
        /// Accepting the server's newest sender set.
        case senderSet = "sender set"
        /// Maintaining the device's keys.
        case keys
        /// Handing over the record and token.
        case registration
        /// Answering the server's challenges.
        case challenge
    }

    mutating func note(_ step: Step, _ error: PushServerError) { problems.append(Problem(step: step, error: error)) }
}
