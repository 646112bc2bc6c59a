internal import PushCore

extension Content {
    /// How much of a message its notification shows, from all to nothing.
    ///
    /// What a notification doesn't show isn't in it at all, so the system can't keep or pass it on. The app reads it back from
    /// the envelope that the notification contains instead. Source: ContentParts 26.
    public enum Disclosure: String, Sendable, CaseIterable, Comparable {
        /// Everything.
        case full
        /// The message's ``Content/person``, with the app's generic text. Without a person, the same as ``generic``.
        case sender
        /// The app's generic text.
        case generic

        public static func < (one: Disclosure, other: Disclosure) -> Bool { one.rank < other.rank }

        private var rank: Int {
            switch self {
            case .full: 0
            case .sender: 1
            case .generic: 2
            }
        }
    }
}

extension Content.Disclosure {
    /// Reads a level. An unknown one may be a later version's, for messages that are even more private.
    ///
    /// - Parameter isLenient: whether such a value is read as the strictest level.
    init(_ value: JSONValue, at path: String, isLenient: Bool) throws(ContentError) {
        let known = value.string.flatMap(Self.init(untrusted:))
        guard known != nil || isLenient else { throw .unusable(value, at: path) }
        self = known ?? .generic
    }
}
