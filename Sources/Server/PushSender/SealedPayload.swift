public import SealedPush

/// A finished push: what travels, and to whom it may be sent. Only a ``Sealer`` makes one, so nothing unsealed can be
/// sent as one.
///
/// Hand ``json`` to APNs as the request's body, or the value itself to a library that takes an `Encodable` payload, such
/// as APNSwift's `APNSAlertNotification(payload:)`. Send it with `apns-push-type: alert`, the topic, and the two
/// identifiers below, the same on each retry. Source: Specification 2.
public struct SealedPayload: Hashable, Sendable {
    /// The request's body: at most 4,096 bytes of UTF-8.
    public let json: [UInt8]
    /// The only device key that opens it.
    public let recipient: DevicePublicKey
    /// For `apns-topic`.
    public let topic: Topic
    /// For `apns-id`: a UUID in small letters that tells an observer nothing.
    public let apnsID: String
    /// For `apns-collapse-id`: 22 characters. A push that arrives twice under it replaces itself on the screen.
    public let collapseID: String
    /// The sealed message's own ID.
    public let messageID: MessageID
    /// For `apns-expiration`, where the content has one.
    public let expires: Timestamp?
    /// What `custom-encrypted-message` holds.
    public let envelope: Envelope
    let alert: WireAlert

    /// The payload's one key of our own.
    public static let fieldName = Envelope.fieldName
}

extension SealedPayload: Encodable {
    /// The same JSON as ``json``, member for member.
    public func encode(to encoder: any Encoder) throws {
        let payload: JSONValue = [
            "aps": ["alert": alert.json, "mutable-content": 1],
            Self.fieldName: .string(envelope.text),
        ]
        guard case .object(let members) = payload else { return }
        var container = encoder.container(keyedBy: PayloadKey.self)
        for (name, value) in members { try container.encode(value, forKey: PayloadKey(stringValue: name)) }
    }

    private struct PayloadKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// Why content was not sealed. Holds no content.
public enum SealError: Error, Equatable, Sendable {
    /// By how many bytes of content JSON it is too much for one push.
    case tooLarge(byteCountOver: Int)
    /// The content itself can't be sealed.
    case content(ContentError)
    /// The content names another topic than the sealer's.
    case otherTopic
}

extension SealError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .tooLarge(let over): "the content is \(over) bytes too large for one push"
        case .content(let error): error.description
        case .otherTopic: "the content names another topic than the one it is sealed for"
        }
    }
}
