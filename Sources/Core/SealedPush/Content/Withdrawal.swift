extension Content {
    /// Removes notifications that a person has read elsewhere. Such content has no text and isn't shown.
    ///
    /// It removes only the notifications of its own sender, and of senders that the device no longer trusts. A notification
    /// that arrives later is shown. Sealing refuses an anonymous withdrawal, and so do devices. Source: ContentParts 21.
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
            /// The notifications with this ``Content/threadID``, which isn't empty, that were sent in an earlier second than
            /// the withdrawal, and that of one message, whenever it was sent: name the newest that was read.
            case thread(String, and: MessageID? = nil)
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
        case (let message, let thread?): target = .thread(thread, and: message)
        case (nil, nil): throw .invalid(path)
        }
    }

    var json: JSONValue {
        var members: [String: JSONValue] =
            switch target {
            case .message(let id): ["message": .string(id.description)]
            case .thread(let thread, nil): ["thread": .string(thread)]
            case .thread(let thread, let id?): ["thread": .string(thread), "message": .string(id.description)]
            }
        if isFiltered { members["filtered"] = true }
        return .object(members)
    }
}
