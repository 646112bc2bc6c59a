internal import PushCore

/// The reason that a push wasn't accepted.
public struct PushReason: Hashable, Sendable {
    /// The service's name for it, for reports and dead letters: at most 256 bytes.
    public let name: String
    /// A sentence that tells an operator what is likely wrong with all pushes, or nil if the reason concerns only this one.
    /// It's for ``PushOutcome/stop(_:)``, and for when push after push fails for this reason and none is accepted.
    public let problem: String?

    /// Creates a reason. The name is cut to 256 bytes, between characters.
    public init(_ name: String, problem: String? = nil) {
        self.name = name.prefix(byteCount: 256)
        self.problem = problem
    }
}
