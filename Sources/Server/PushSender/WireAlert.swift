import SealedPush

/// The alert that travels in the clear, and that iOS shows where the extension could not run at all.
///
/// Generic by nature: every carrier reads it. Never empty, since iOS wakes no extension for a push without text.
/// Nothing of the content is ever copied into it. Source: Specification 2.
public struct WireAlert: Hashable, Sendable {
    let json: JSONValue

    /// A plain text, shown as the body. Throws unless a person could see it and it has at most 1,024 bytes as JSON.
    public init(text body: String) throws(WireAlertError) {
        try self.init(isVisible: VisibleText.isVisible(body), json: .string(body))
    }

    /// Texts by part, each plain or by the key of a string that the app's own bundle translates.
    public init(title: Text? = nil, subtitle: Text? = nil, body: Text) throws(WireAlertError) {
        var members: [String: JSONValue] = [:]
        title?.write(into: &members, plain: "title", key: "title-loc-key", arguments: "title-loc-args")
        subtitle?.write(into: &members, plain: "subtitle", key: "subtitle-loc-key", arguments: "subtitle-loc-args")
        body.write(into: &members, plain: "body", key: "loc-key", arguments: "loc-args")
        try self.init(isVisible: [title, subtitle, body].contains { $0?.isVisible ?? false }, json: .object(members))
    }

    /// One part of the alert. Source: Apple, "Generating a remote notification", table 2.
    public enum Text: Hashable, Sendable {
        case plain(String)
        /// The key of a string in the app's bundle, and what goes into its `%@` places.
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

    /// A quarter of the payload: the rest is for what is sealed.
    static let maximumByteCount = 1_024
}

extension WireAlert: ExpressibleByStringLiteral {
    /// An alert that stands in the program's own source; an unusable one stops the program.
    public init(stringLiteral text: String) {
        do {
            try self.init(text: text)
        } catch {
            preconditionFailure("the safe default is unusable: \(error)")
        }
    }
}

/// Why a text can't be the clear alert.
public enum WireAlertError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Empty, white space, or invisible: iOS would not wake the extension.
    case nothingVisible
    /// Too much of the payload would be in the clear.
    case tooLong(byteCount: Int, maximum: Int)

    public var description: String {
        switch self {
        case .nothingVisible: "it has no visible text, and iOS wakes no extension for a push without text"
        case .tooLong(let count, let maximum): "it takes \(count) bytes of JSON, and may take \(maximum)"
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
