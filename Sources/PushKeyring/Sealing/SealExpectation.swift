internal import _PushBase

/// What is known of a keyring's seal from elsewhere than its folder, which somebody else may have written.
///
/// With a ``KeyringUnlocking/given(_:)`` secret nothing more is needed: a keyring that is not sealed is refused then.
public struct SealExpectation: Sendable {
    /// Whether a keyring that is not sealed is refused.
    public var isRequired: Bool
    /// Where it is noted that a keyring was seen sealed; nil for nowhere.
    public var seen: SeenSeals?

    public init(isRequired: Bool = false, seen: SeenSeals? = nil) {
        self.isRequired = isRequired
        self.seen = seen
    }

    /// As programs do: the user's own notes, and `SEALED_PUSH_SEALED` in the environment, which demands a seal unless it is
    /// empty.
    public static func ofUser(isRequired: Bool = false) -> SealExpectation {
        let variable = getenv("SEALED_PUSH_SEALED")
        return SealExpectation(
            isRequired: isRequired || variable.map { $0.pointee != 0 } ?? false, seen: SeenSeals.ofUser())
    }
}
