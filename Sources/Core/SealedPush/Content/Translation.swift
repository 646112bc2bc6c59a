extension Content {
    /// The name of a text in the app's own language files, and what the text's placeholders stand for.
    ///
    /// The phone shows that text in place of the sealed one, if the app has `TranslationStage` of PushService. Otherwise, and
    /// if the app has no such text, it shows the sealed one. Ignored in anonymous messages. Source: ContentParts 17.3.
    public struct Translation: Hashable, Sendable {
        /// The name, as `loc-key` in `aps.alert`: 1 to 256 bytes.
        public var key: String
        /// At most 16 texts, for `%@` or `%1$@` and so on.
        public var arguments: [String]

        /// Creates a translation; sealing checks the limits.
        public init(key: String, arguments: [String] = []) {
            self.key = key
            self.arguments = arguments
        }
    }
}

extension Content.Translation {
    /// Reads the members `loc-key` and `loc-args` of an alert, which have a prefix for other texts than the body.
    ///
    /// - Parameter isLenient: whether a value that breaks a rule counts as absent.
    init?(_ prefix: String, of parts: inout MemberReader, isLenient: Bool) throws(ContentError) {
        let (keyName, argumentsName) = (prefix + "loc-key", prefix + "loc-args")
        let (keyValue, argumentsValue) = (parts.take(keyName), parts.take(argumentsName))
        let key = keyValue?.string.flatMap { (1...Self.maximumKeyByteCount).contains($0.utf8.count) ? $0 : nil }
        let arguments = Self.arguments(argumentsValue)
        if let key, let arguments {
            self.init(key: key, arguments: arguments)
            return
        }
        guard !isLenient else { return nil }
        if let keyValue, key == nil { throw .unusable(keyValue, at: parts.place(of: keyName)) }
        if let argumentsValue { throw .unusable(argumentsValue, at: parts.place(of: argumentsName)) }
        return nil
    }

    /// Returns nil if the value breaks a rule; a missing value counts as no arguments.
    private static func arguments(_ value: JSONValue?) -> [String]? {
        guard let value else { return [] }
        guard case .array(let values) = value, values.count <= maximumArgumentCount else { return nil }
        let texts = values.compactMap(\.string)
        return texts.count == values.count ? texts : nil
    }

    private static let maximumKeyByteCount = 256
    private static let maximumArgumentCount = 16
}

extension Content.Alert {
    /// The members of all translations, by name.
    var translationMembers: [(name: String, value: JSONValue)] {
        func members(_ prefix: String, _ translation: Content.Translation?) -> [(name: String, value: JSONValue)] {
            guard let translation else { return [] }
            let key = (name: prefix + "loc-key", value: JSONValue.string(translation.key))
            guard !translation.arguments.isEmpty else { return [key] }
            return [key, (prefix + "loc-args", .array(translation.arguments.map(JSONValue.string)))]
        }
        return members("title-", titleTranslation) + members("subtitle-", subtitleTranslation)
            + members("", bodyTranslation)
    }
}
