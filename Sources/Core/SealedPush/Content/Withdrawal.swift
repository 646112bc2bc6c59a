extension Content {
    /// Removes notifications that a person has read elsewhere. Such content has no text and isn't shown.
    ///
    /// It removes only the same sender's notifications, and, in a thread, only those sent earlier. A notification that
    /// arrives later is shown. Sealing refuses an anonymous withdrawal, and so do devices. Source: ContentParts 21.
    public struct Withdrawal: Hashable, Sendable {
        /// The notifications to remove.
        public var target: Target
        /// Whether it travels in an ordinary push, opened by the extension of an app with Apple's filtering entitlement.
        /// Otherwise, it travels in a background push, opened by the app.
        public var isFiltered: Bool

        /// Creates a withdrawal.
        public init(_ target: Target, isFiltered: Bool = false) {
            self.target = target
            self.isFiltered = isFiltered
        }

        /// The notifications to remove.
        public enum Target: Hashable, Sendable {
            /// The notification of one message.
            case message(MessageID)
            /// All notifications with this ``Content/threadID``, which isn't empty.
            case thread(String)
        }
    }

    /// Creates content that removes notifications. It may also have ``badge``, ``expires``, ``collapseID``, and, for an app
    /// that opens it, ``data``.
    public init(withdrawing target: Withdrawal.Target, isFiltered: Bool = false) {
        self.init()
        withdrawal = Withdrawal(target, isFiltered: isFiltered)
    }

    package var isBackground: Bool { withdrawal?.isFiltered == false }

    /// ContentParts 21.2.
    func check(_ withdrawal: Withdrawal) throws(ContentError) {
        _ = try Withdrawal(withdrawal.json, at: "withdraw", isLenient: false)
        var allowed = Content(withdrawing: withdrawal.target, isFiltered: withdrawal.isFiltered)
        (allowed.id, allowed.topic, allowed.sent, allowed.expires) = (id, topic, sent, expires)
        (allowed.collapseID, allowed.badge, allowed.data, allowed.other) = (collapseID, badge, data, other)
        guard self != allowed else { return }
        // Only the error's name requires the JSON.
        let allowedNames = Set(try Self.members(allowed.json, isLenient: true).names)
        let wrong = try Self.members(json, isLenient: true).names.filter { !allowedNames.contains($0) }.min()
        throw .besideWithdrawal(wrong ?? "alert")
    }
}

extension Content.Withdrawal {
    /// - Parameter isLenient: whether unknown members are ignored.
    init(_ value: JSONValue, at path: String, isLenient: Bool) throws(ContentError) {
        var object = try MemberReader(value, at: path)
        let message = try object.optional("message") { $0.string.flatMap(MessageID.init(parsing:)) }
        let thread = try object.optional("thread") { $0.string.flatMap { $0.isEmpty ? nil : $0 } }
        isFiltered = try object.optional("filtered", \.bool) ?? false
        if !isLenient, let unknown = object.rest.dictionary.keys.min() {
            throw .besideWithdrawal(object.place(of: unknown))
        }
        switch (message, thread) {
        case (let message?, nil): target = .message(message)
        case (nil, let thread?): target = .thread(thread)
        default: throw .invalid(path)
        }
    }

    var json: JSONValue {
        var members: [String: JSONValue] =
            switch target {
            case .message(let id): ["message": .string(id.description)]
            case .thread(let thread): ["thread": .string(thread)]
            }
        if isFiltered { members["filtered"] = true }
        return .object(members)
    }
}
