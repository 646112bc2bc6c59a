internal import PushCore
public import SealedPush

/// A sealed push, ready to send. Only a ``Sealer`` creates one, so unsealed content can't be sent as one.
///
/// Pass ``json`` to APNs as the request's body, or the value itself to a library that accepts `Encodable` payloads, such as
/// APNSwift's `APNSAlertNotification(payload:)`. Send it with `apns-push-type: alert`, the topic, and the two identifiers
/// below, which stay the same on each retry. If ``isBackground``, use `background` and priority 5. Source: Specification 2.
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

/// The reason that content wasn't sealed. It contains no content.
public enum SealError: Error, Equatable, Sendable {
    /// The content JSON is this many bytes too large for one push.
    case tooLarge(byteCountOver: Int)
    /// The content itself can't be sealed.
    case content(ContentError)
    /// The content's topic differs from the sealer's.
    case otherTopic
    /// A withdrawal needs a sender, because devices reject anonymous ones.
    case anonymousWithdrawal
    /// The recipient's key is hybrid, and the anonymous suite can't seal to hybrid keys.
    case anonymousToHybrid
    /// The recipient's key isn't hybrid, and the sealer requires hybrid keys.
    case notHybrid
    /// The content expires too late for a device that keeps retired keys for this many days.
    case expiresTooLate(days: Int)
}

extension SealError: CustomStringConvertible {
    /// A sentence for an operator.
    public var description: String {
        switch self {
        case .tooLarge(let over): "the content is \(over) bytes too large for one push"
        case .content(let error): error.description
        case .anonymousWithdrawal: "a withdrawal needs a sender, because devices reject anonymous ones"
        case .anonymousToHybrid: "a device with a hybrid key rejects anonymous messages; seal with a sender's key"
        case .notHybrid: "the device's key isn't hybrid, and this sender requires hybrid keys"
        case .expiresTooLate(let days):
            "the content expires too late; the device keeps a retired key for only \(days) days"
        case .otherTopic: "the content's topic isn't the one it is sealed for"
        }
    }
}

/// Content that is checked and written for any number of devices; see ``Sealer/prepare(_:keeping:)``.
package struct PreparedContent: Sendable {
    let id: MessageID
    let collapseID: String?
    let expires: Timestamp?
    /// Whether the content has its own receipt, the same for each device, or can't have one.
    let hasOwnReceipt: Bool
    let isBackground: Bool
    /// The written content for each of the sealer's plans, or the reason that it doesn't fit.
    var written: [Result<WrittenContent, SealError>] = []

    /// Prepares content that is already complete.
    init(_ content: Content) throws(SealError) {
        guard let id = content.id else { throw .content(.missing("id")) }
        self.id = id
        collapseID = content.collapseID
        expires = content.expires
        hasOwnReceipt = content.hasOwnReceipt
        isBackground = content.isBackground
    }
}

/// The JSON of content, with a place for each device's receipt.
struct WrittenContent: Sendable {
    /// The size including a device's receipt.
    let byteCount: Int
    /// The size including the padding that the suite and the sealer's policy require.
    var plaintextByteCount = 0
    private let json: [UInt8]
    private let receiptPlace: Int

    /// - Parameter receiptByteCount: The size of a device's receipt, or 0 if none is added.
    init(_ content: Content, receiptByteCount: Int) {
        (json, receiptPlace) = content.hasOwnReceipt ? (content.json, 0) : content.jsonWithoutReceipt
        byteCount = json.count + receiptByteCount
    }

    /// Returns the content's JSON, padded. Source: Specification 4.1.
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

/// The number of bytes of content that fit into one push. It depends only on the clear part, so it's known before sealing.
/// Apple's limit is 4,096 bytes for every push type that runs an extension. Source: Specification 5.
public struct SizePlan: Hashable, Sendable {
    /// The bytes of the payload outside the envelope's text.
    package let clearByteCount: Int
    /// The policy that decides how much padding is sealed together with the content.
    public let padding: PaddingPolicy
    /// The maximum number of bytes that can be sealed, including padding.
    package let maximumPlaintextByteCount: Int
    let suite: Envelope.Suite

    /// The maximum size of the content JSON: one byte less, because padding takes at least one.
    public var maximumContentByteCount: Int { maximumPlaintextByteCount - 1 }

    /// The maximum payload size that APNs accepts.
    public static let maximumPayloadByteCount = PayloadLimit.byteCount

    init(clearByteCount: Int, suite: Envelope.Suite, padding: PaddingPolicy) {
        self.clearByteCount = clearByteCount
        self.padding = padding
        let envelopeByteCount = Base64URL.byteCount(fitting: Self.maximumPayloadByteCount - clearByteCount)
        maximumPlaintextByteCount = envelopeByteCount - suite.overheadByteCount
        self.suite = suite
    }

    /// Returns a plan for a payload with this many fewer bytes.
    func leavingFree(_ reserve: Int) -> SizePlan {
        precondition((0...Sealer.maximumReserve).contains(reserve), "a reserve must be 0 to 1,024 bytes")
        return SizePlan(clearByteCount: clearByteCount + reserve, suite: suite, padding: padding)
    }

    /// Returns the number of bytes to seal for this much content, or nil if it doesn't fit.
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

/// A policy for content that doesn't fit into one push.
public enum FitPolicy: String, Sendable, CaseIterable {
    /// Sealing fails, and the error contains the number of excess bytes.
    case error
    /// The body is cut between two grapheme clusters and gets an ellipsis. Sealing fails if not even one grapheme fits.
    case truncate
}

/// How much an observer learns about the content's length. Source: Specification 4.2.
public enum PaddingPolicy: String, Sendable, CaseIterable {
    /// Pads to 256, 512, 1,024, or 2,048 bytes (hybrid: 1,792), or to the maximum. An observer learns only which one.
    case buckets
    /// Pads to the maximum. An observer learns nothing.
    case full
    /// Adds one byte. An observer learns the exact length.
    case none
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
