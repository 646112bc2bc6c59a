import SealedPush

/// The alert that travels in the clear, and that iOS shows if the extension couldn't run.
///
/// Keep it generic, because every carrier can read it. It's never empty, because iOS doesn't run an extension for a push
/// without text. No content is ever copied into it. Source: Specification 2.
public struct WireAlert: Hashable, Sendable {
    let json: JSONValue

    /// Creates an alert with a plain body. Throws unless the text is visible and takes at most 1,024 bytes of JSON.
    public init(text body: String) throws(WireAlertError) {
        try self.init(isVisible: VisibleText.isVisible(body), json: .string(body))
    }

    /// Creates an alert from parts, each of them plain text or the key of a string that the app's bundle translates.
    public init(title: Text? = nil, subtitle: Text? = nil, body: Text) throws(WireAlertError) {
        var members: [String: JSONValue] = [:]
        title?.write(into: &members, plain: "title", key: "title-loc-key", arguments: "title-loc-args")
        subtitle?.write(into: &members, plain: "subtitle", key: "subtitle-loc-key", arguments: "subtitle-loc-args")
        body.write(into: &members, plain: "body", key: "loc-key", arguments: "loc-args")
        try self.init(isVisible: [title, subtitle, body].contains { $0?.isVisible ?? false }, json: .object(members))
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

/// The reason that a text can't be the clear alert.
public enum WireAlertError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Empty, white space, or invisible. iOS wouldn't run the extension.
    case nothingVisible
    /// Too much of the payload would be in the clear.
    case tooLong(byteCount: Int, maximum: Int)

    /// A sentence for an operator.
    public var description: String {
        switch self {
        case .nothingVisible: "it has no visible text, and iOS doesn't run an extension for a push without text"
        case .tooLong(let count, let maximum): "it takes \(count) bytes of JSON; the maximum is \(maximum)"
        }
    }
}

extension WireAlert.Text {
    fileprivate var isVisible: Bool {
        switch self {
        case .plain(let text): VisibleText.isVisible(text)
        case .localized(let key, _): VisibleText.isVisible(key)
        }
    }

    fileprivate func write(
        into members: inout [String: JSONValue], plain: String, key keyName: String, arguments argumentsName: String
    ) {
        switch self {
        case .plain(let text): members[plain] = .string(text)
        case .localized(let key, let arguments):
            members[keyName] = .string(key)
            if !arguments.isEmpty { members[argumentsName] = .array(arguments.map(JSONValue.string)) }
        }
    }
}
