/// An error in reading or sealing content. Contains keys, never values.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ContentError: Error, Equatable, Sendable {
    /// The content is larger than the limit.
    case tooLong(maximumByteCount: Int)
    /// Not a single JSON object in UTF-8, has a duplicate or overlong name, or is more than 16 levels deep.
    case notJSON(JSONFault)
    /// This key is missing. Nested keys are named by path, such as `attachments[0].url`.
    case missing(String)
    /// This key's value has the wrong type or is out of range. Nested keys are named by path, such as `attachments[0].url`.
    case invalid(String)
    /// This key's value is `null`, which has no meaning here. Nested keys are named by path, such as `alert.subtitle`.
    case null(String)
    /// No part of `alert` is visible.
    case noVisibleText
    /// This key has no effect in a withdrawal.
    case besideWithdrawal(String)
}

extension ContentError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .tooLong(let maximum): "the content is larger than \(maximum) bytes"
        case .notJSON(let fault): "the content is not a single JSON object: \(fault)"
        case .missing(let key): "the content has no \"\(key)\""
        case .invalid("alert"):
            "the content's \"alert\" must be an object of strings, such as {\"title\":\"…\",\"body\":\"…\"}"
        case .invalid(let key) where key.hasSuffix(".url"):
            "the content's \"\(key)\" must be an https URL with a lowercase host, and without a user, password, or fragment"
        case .invalid(let key) where ["expires", "sent"].contains(key):
            "the content's \"\(key)\" must be \(Content.momentRule)"
        case .invalid("withdraw"): "the content's \"withdraw\" must name a \"message\", a \"thread\", or both"
        case .invalid(let key) where key.hasSuffix(".image-data"):
            "the content's \"\(key)\" must be a picture of 1 to 2048 bytes in base64url, without padding"
        case .invalid(let key): "the content's \"\(key)\" has the wrong type or is out of range"
        case .null(let key): "the content's \"\(key)\" is null: leave it out"
        case .noVisibleText: "the content's \"alert\" has no visible title, subtitle, or body"
        case .besideWithdrawal(let key): "the content's \"\(key)\" has no effect in a withdrawal: leave it out"
        }
    }
}

extension ContentError {
    static func unusable(_ value: JSONValue, at path: String) -> ContentError {
        value == .null ? .null(path) : .invalid(path)
    }
}
