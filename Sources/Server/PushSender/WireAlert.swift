import SealedPush

/// The alert that travels in the clear, and that iOS shows if the extension couldn't run.
///
/// Keep it generic, because every carrier can read it. Each of its texts is visible, because iOS doesn't run an extension
/// for a push that shows nothing. No content is ever copied into it. Source: Specification 2.2.
public struct WireAlert: Hashable, Sendable {
    let json: JSONValue

    /// Creates an alert with a plain body. Throws unless the text is visible and takes at most 1,024 bytes of JSON.
    public init(text body: String) throws(WireAlertError) {
        try self.init(isVisible: VisibleText.isVisible(body), json: .string(body))
    }

    /// Creates an alert from parts, each of them plain text or the key of a string that the app's bundle translates. Throws
    /// unless each text, key, and argument is visible.
    public init(title: Text? = nil, subtitle: Text? = nil, body: Text) throws(WireAlertError) {
        var members: [String: JSONValue] = [:]
        var isVisible = true
        for (part, text) in [(Part.body, body), (.subtitle, subtitle), (.title, title)] {
            guard let text else { continue }
            isVisible = isVisible && text.texts.allSatisfy(VisibleText.isVisible)
            switch text {
            case .plain(let text): members[part.plain] = .string(text)
            case .localized(let key, let arguments):
                members[part.key] = .string(key)
                if !arguments.isEmpty { members[part.arguments] = .array(arguments.map(JSONValue.string)) }
            }
        }
        try self.init(isVisible: isVisible, json: .object(members))
    }

    /// The parts, in the order of their members' names, in which they are written.
    enum Part: String, CaseIterable {
        case body
        case subtitle
        case title

        /// The names of the members. Source: Apple, "Generating a remote notification", table 2.
        var plain: String { rawValue }
        var key: String { "\(prefix)loc-key" }
        var arguments: String { "\(prefix)loc-args" }
        private var prefix: String { self == .body ? "" : "\(rawValue)-" }
    }

    /// A part of the alert. Source: Apple, "Generating a remote notification", table 2.
    public enum Text: Hashable, Sendable {
        /// Text that is shown as it is.
        case plain(String)
        /// The key of a string in the app's bundle, and the arguments for its `%@` placeholders.
        case localized(key: String, arguments: [String] = [])
    }

    private init(isVisible: Bool, json: JSONValue) throws(WireAlertError) {
        guard isVisible else { throw .nothingVisible }
        var writer = JSONWriter()
        writer.value(json)
        guard writer.bytes.count <= Self.maximumByteCount else {
            throw .tooLong(byteCount: writer.bytes.count, maximum: Self.maximumByteCount)
        }
        self.json = json
    }

    /// A quarter of the payload. The rest is for the envelope.
    static let maximumByteCount = 1_024
}

extension WireAlert: ExpressibleByStringLiteral {
    /// Creates an alert from a literal. An invalid literal stops the program.
    public init(stringLiteral text: String) {
        do {
            try self.init(text: text)
        } catch {
            preconditionFailure("invalid safe default: \(error)")
        }
    }
}

extension WireAlert.Text {
    fileprivate var texts: [String] {
        switch self {
        case .plain(let text): [text]
        case .localized(let key, let arguments): [key] + arguments
        }
    }
}
