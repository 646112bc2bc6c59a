internal import PushCore
public import SealedPush

/// A finished push: what travels, and to whom it may be sent. Only a ``Sealer`` makes one, so nothing unsealed can be
/// sent as one.
///
/// Hand ``json`` to APNs as the request's body, or the value itself to a library that takes an `Encodable` payload, such
/// as APNSwift's `APNSAlertNotification(payload:)`. Send it with `apns-push-type: alert`, the topic, and the two
/// identifiers below, the same on each retry; for ``isBackground``, with `background` and priority 5. Source: Specification 2.
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
    /// Whether it is a background push, which the app opens: a ``Content/Withdrawal``.
    public let isBackground: Bool
    let alert: WireAlert

    /// The payload's one key of our own.
    public static let fieldName = Envelope.fieldName
}

extension SealedPayload: Encodable {
    /// The same JSON as ``json``, member for member.
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

/// Why content was not sealed. Holds no content.
public enum SealError: Error, Equatable, Sendable {
    /// By how many bytes of content JSON it is too much for one push.
    case tooLarge(byteCountOver: Int)
    /// The content itself can't be sealed.
    case content(ContentError)
    /// The content names another topic than the sealer's.
    case otherTopic
    /// No device accepts a withdrawal without a sender.
    case anonymousWithdrawal
    /// The recipient's key is hybrid, and the anonymous suite can't seal to hybrid keys.
    case anonymousToHybrid
    /// The recipient's key is not hybrid, and the sealer requires hybrid keys.
    case notHybrid
    /// The content expires too late for a device that keeps retired keys for this many days.
    case expiresTooLate(days: Int)
}

extension SealError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .tooLarge(let over): "the content is \(over) bytes too large for one push"
        case .content(let error): error.description
        case .anonymousWithdrawal: "a withdrawal needs a sender: no device accepts an anonymous one"
        case .anonymousToHybrid: "a device with a hybrid key takes no anonymous messages: seal with a sender's key"
        case .notHybrid: "the device's key is not hybrid, and this sender requires hybrid keys"
        case .expiresTooLate(let days):
            "the content expires too late: the device keeps a retired key for \(days) days"
        case .otherTopic: "the content names another topic than the one it is sealed for"
        }
    }
}

/// Content that is checked and written, for any number of devices: see ``Sealer/prepare(_:)``.
package struct PreparedContent: Sendable {
    let id: MessageID
    let collapseID: String?
    let expires: Timestamp?
    /// Whether it came with a receipt, which then is the same for each device, or can't have one.
    let hasOwnReceipt: Bool
    let isBackground: Bool
    /// The written content for each plan of the sealer, or the reason that it does not fit.
    var written: [Result<WrittenContent, SealError>] = []

    /// Takes complete content.
    init(_ content: Content) throws(SealError) {
        guard let id = content.id else { throw .content(.missing("id")) }
        self.id = id
        collapseID = content.collapseID
        expires = content.expires
        hasOwnReceipt = content.hasOwnReceipt
        isBackground = content.isBackground
    }
}

/// The JSON of a content, with a place for each device's receipt.
struct WrittenContent: Sendable {
    /// With a device's receipt.
    let byteCount: Int
    /// With the padding: the suite's, and the sealer's choice.
    var plaintextByteCount = 0
    private let json: [UInt8]
    private let receiptPlace: Int

    /// - Parameter receiptByteCount: what a device's receipt takes; 0 if none is added.
    init(_ content: Content, receiptByteCount: Int) {
        (json, receiptPlace) = content.hasOwnReceipt ? (content.json, 0) : content.jsonWithoutReceipt
        byteCount = json.count + receiptByteCount
    }

    /// The content's JSON, padded. Source: Specification 4.1.
    func plaintext(with receipt: ReceiptRequest?) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(plaintextByteCount)
        bytes += json[..<receiptPlace]
        if let receipt { bytes += receipt.jsonMember }
        bytes += json[receiptPlace...]
        let contentByteCount = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: plaintextByteCount - contentByteCount))
        bytes.withUnsafeMutableBytes { Padding.pad($0, contentByteCount: contentByteCount) }
        return bytes
    }
}

/// How many bytes of content fit into one push: an exact function of the clear part, known before anything is sealed.
///
/// Source: Specification 5. Apple's limit is 4,096 bytes for every push type that wakes an extension.
public struct SizePlan: Hashable, Sendable {
    /// Bytes of the payload that are not the envelope's text.
    package let clearByteCount: Int
    /// How much is sealed together with the content.
    public let padding: PaddingPolicy
    /// The most bytes that can be sealed, content and padding together.
    package let maximumPlaintextByteCount: Int
    let suite: Envelope.Suite

    /// The most bytes of content JSON: one byte less, since padding has at least one.
    public var maximumContentByteCount: Int { maximumPlaintextByteCount - 1 }

    /// The most bytes APNs takes.
    public static let maximumPayloadByteCount = PayloadLimit.byteCount

    init(clearByteCount: Int, suite: Envelope.Suite, padding: PaddingPolicy) {
        self.clearByteCount = clearByteCount
        self.padding = padding
        let envelopeByteCount = Base64URL.byteCount(fitting: Self.maximumPayloadByteCount - clearByteCount)
        maximumPlaintextByteCount = envelopeByteCount - suite.overheadByteCount
        self.suite = suite
    }

    /// The plan of a payload that is so many bytes shorter.
    func leavingFree(_ reserve: Int) -> SizePlan {
        precondition((0...Sealer.maximumReserve).contains(reserve), "a reserve is 0 to 1024 bytes")
        return SizePlan(clearByteCount: clearByteCount + reserve, suite: suite, padding: padding)
    }

    /// How many bytes are sealed for this much content; nil where it does not fit.
    public func plaintextByteCount(forContent contentByteCount: Int) -> Int? {
        let minimum = contentByteCount + 1
        guard minimum <= maximumPlaintextByteCount else { return nil }
        switch padding {
        case .none: return minimum
        case .full: return maximumPlaintextByteCount
        case .buckets:
            let bucket = suite.bucketByteCounts.first { $0 >= minimum } ?? maximumPlaintextByteCount
            return min(bucket, maximumPlaintextByteCount)
        }
    }
}

/// What happens to content that does not fit into one push.
public enum FitPolicy: String, Sendable, CaseIterable {
    /// Sealing fails and says by how many bytes it is too much.
    case error
    /// The body is cut between two graphemes, as a reader sees them, and an ellipsis is set behind it. Where even one
    /// grapheme would not fit, sealing fails.
    case truncate
}

/// How much an observer learns about the length of what was sealed. Source: Specification 4.2.
public enum PaddingPolicy: String, Sendable, CaseIterable {
    /// Up to 256, 512, 1,024 or 2,048 bytes (hybrid: 1,792), or all that fits: an observer learns which of these.
    case buckets
    /// Always all that fits: an observer learns nothing.
    case full
    /// One byte: an observer learns the exact length.
    case none
}

extension Content {
    /// Whether it came with a receipt, or can't have one.
    var hasOwnReceipt: Bool { receipt != nil || withdrawal != nil }

    /// The content with its body cut so that its JSON is `excess` bytes shorter or more; nil where that can't be done.
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
