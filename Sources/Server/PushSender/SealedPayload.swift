public import SealedPush

/// A sealed push, ready to send. Only a ``Sealer`` creates one, so unsealed content can't be sent as one.
///
/// Pass ``json`` to APNs as the request's body, or the value itself to a library that accepts `Encodable` payloads, such as
/// APNSwift's `APNSAlertNotification(payload:)`. Send it with ``pushType``, ``priority(_:)``, the topic, and the two identifiers
/// below, which stay the same on each retry. Source: Specification 2.
public struct SealedPayload: Hashable, Sendable {
    /// The request's body: at most 4,096 bytes of UTF-8.
    public let json: [UInt8]
    /// The only device key that opens it.
    public let recipient: DevicePublicKey
    /// The value of `apns-topic`.
    public let topic: Topic
    /// The value of `apns-id`: a lowercase UUID that reveals nothing to an observer.
    public let apnsID: String
    /// The value of `apns-collapse-id`: 22 characters. A push that arrives twice replaces itself on the screen.
    public let collapseID: String
    /// The ID of the sealed message.
    public let messageID: MessageID
    /// The value of `apns-expiration`, if the content has one.
    public let expires: Timestamp?
    /// The value of `custom-encrypted-message`.
    public let envelope: Envelope
    /// Whether this is a background push, which the app itself opens: a `Content.Withdrawal`.
    public let isBackground: Bool
    let alert: WireAlert

    /// The payload's only key that isn't Apple's.
    public static let fieldName = Envelope.fieldName

    /// The value of `apns-push-type`: `alert`, or `background` if ``isBackground``.
    public var pushType: String { PushType(isBackground: isBackground).rawValue }

    /// Returns the value of `apns-priority`: the wanted one, or for a background push the only one that Apple allows.
    public func priority(_ wanted: PushPriority) -> PushPriority { isBackground ? .considerate : wanted }
}

extension SealedPayload: Encodable {
    /// Encodes the same JSON as ``json``, member for member.
    public func encode(to encoder: any Encoder) throws {
        let aps: JSONValue = isBackground ? ["content-available": 1] : ["alert": alert.json, "mutable-content": 1]
        let payload: JSONValue = ["aps": aps, Self.fieldName: .string(envelope.text)]
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

extension Content {
    /// Whether the content has its own receipt, or can't have one.
    var hasOwnReceipt: Bool { receipt != nil || withdrawal != nil }

    /// Returns the content with its body cut so that its JSON is at least `excess` bytes shorter, or nil if that's impossible.
    func truncated(by excess: Int) -> Content? {
        guard let body = alert.body else { return nil }
        let ellipsis = "…"
        let budget = Self.escapedByteCount(of: body.utf8) - excess - ellipsis.utf8.count
        var end = body.startIndex
        var byteCount = 0
        while end < body.endIndex {
            byteCount += Self.escapedByteCount(of: body[end].utf8)
            guard byteCount <= budget else { break }
            body.formIndex(after: &end)
        }
        let kept = body[..<end]
        guard VisibleText.isVisible(String(kept)) else { return nil }
        var shorter = self
        shorter.alert.body = kept + ellipsis
        return shorter
    }

    private static func escapedByteCount(of text: some Sequence<UInt8>) -> Int {
        text.reduce(0) { $0 + JSONCharacters.escapedByteCount(of: $1) }
    }
}
