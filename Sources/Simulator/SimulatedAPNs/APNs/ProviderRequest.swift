package import Foundation
internal import NIOCore
internal import NIOHPACK
internal import PushCore
internal import SealedPush

/// One request as received: the headers that APNs defines, and the body, up to the maximum size of any push.
struct ProviderRequest {
    private(set) var method = ""
    private(set) var path = ""
    private(set) var headers: [String: String] = [:]
    /// Additional headers whose name has already occurred.
    private(set) var repeated: [(name: String, value: String)] = []
    /// The body. Data beyond the maximum size is counted but discarded.
    private(set) var body = ByteBuffer()
    private(set) var bodyByteCount = 0
    /// The size of the headers as HTTP/2 counts it, with 32 more bytes for each field.
    private(set) var headerByteCount = 0

    private static let names: Set = [
        "authorization", "apns-id", "apns-push-type", "apns-topic", "apns-priority", "apns-expiration",
        "apns-collapse-id",
    ]

    init(_ fields: HPACKHeaders) {
        for (name, value, _) in fields {
            headerByteCount += name.utf8.count + value.utf8.count + 32
            switch name {
            case ":method": method = value
            case ":path": path = value
            case _ where Self.names.contains(name):
                if headers[name] == nil { headers[name] = value } else { repeated.append((name, value)) }
            default: break
            }
        }
    }

    mutating func append(_ data: inout ByteBuffer) {
        bodyByteCount += data.readableBytes
        if bodyByteCount <= PushType.maximumPayloadByteCount { body.writeBuffer(&data) }
    }

    /// The value of `apns-id`, if it's a UUID in canonical form. Whether Apple accepts uppercase isn't known.
    var apnsID: String? {
        headers["apns-id"].flatMap { UUID(uuidString: $0)?.uuidString.lowercased() == $0 ? $0 : nil }
    }
}

/// The checks of a request, in this server's order. Apple's order isn't published.
///
/// 1. `:method` (405), 2. `:path` (404, `MissingDeviceToken`), 3. repeated headers, 4. the provider token (403, 429;
/// see ``ProviderTokens``), 5. `apns-id`, 6. `apns-push-type`, 7. `apns-topic` and its suffix, 8. `apns-priority`,
/// 9. `apns-expiration`, 10. `apns-collapse-id`, 11. an empty payload, 12. its size, 13. its JSON, 14. whether it
/// fits the push type; then the device token (``DeviceRegistry``): 15. `BadDeviceToken`, 16. `DeviceTokenNotForTopic`,
/// 17. 410, 18. too many requests for one device.
extension ProviderRequest {
    /// Performs checks 1 to 3, and returns the device token.
    func deviceToken() throws(APNsRefusal) -> String {
        guard method == "POST" else { throw APNsRefusal(.methodNotAllowed) }
        let prefix = "/3/device"
        guard path.hasPrefix(prefix) else { throw APNsRefusal(.badPath) }
        let rest = path.dropFirst(prefix.count)
        if rest.isEmpty || rest == "/" { throw APNsRefusal(.missingDeviceToken) }
        guard rest.first == "/" else { throw APNsRefusal(.badPath) }
        guard repeated.isEmpty else { throw APNsRefusal(.duplicateHeaders) }
        return String(rest.dropFirst())
    }

    /// Performs checks 5 to 14, and returns the notification and its bundle ID.
    func notification(
        id: String, at now: Int64
    ) throws(APNsRefusal) -> (notification: APNsNotification, bundleID: String) {
        guard headers["apns-id"] == nil || apnsID != nil else { throw APNsRefusal(.badMessageID) }
        guard let type = headers["apns-push-type"].flatMap(PushType.init(rawValue:)) else {
            throw APNsRefusal(.invalidPushType)
        }
        guard let topic = headers["apns-topic"], !topic.isEmpty else { throw APNsRefusal(.missingTopic) }
        let (bundleID, suffix) = PushType.split(topic: topic)
        guard suffix == type.topicSuffix else { throw APNsRefusal(.badTopic) }
        let priority = try priority(type)
        let expiration = try expiration()
        let collapseID = headers["apns-collapse-id"]
        guard collapseID.map({ (1...64).contains($0.utf8.count) }) ?? true else { throw APNsRefusal(.badCollapseID) }
        try checkPayload(type)
        let notification = APNsNotification(
            apnsID: id, pushType: type, priority: priority, expiration: expiration, collapseID: collapseID,
            payload: Data(body.readableBytesView), received: now)
        return (notification, bundleID)
    }

    private func priority(_ type: PushType) throws(APNsRefusal) -> Int {
        let text = headers["apns-priority"] ?? "10"
        guard let priority = [1, 5, 10].first(where: { text == "\($0)" }) else { throw APNsRefusal(.badPriority) }
        // Apple: "Always use priority 5 [for background]. Using priority 10 is an error."
        guard type != .background || priority != 10 else { throw APNsRefusal(.badPriority) }
        return priority
    }

    private func expiration() throws(APNsRefusal) -> Int64? {
        guard let text = headers["apns-expiration"] else { return nil }
        guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit), let seconds = Int64(text) else {
            throw APNsRefusal(.badExpirationDate)
        }
        return seconds
    }

    private func checkPayload(_ type: PushType) throws(APNsRefusal) {
        guard bodyByteCount > 0 else { throw APNsRefusal(.payloadEmpty) }
        guard bodyByteCount <= type.payloadByteLimit else { throw APNsRefusal(.payloadTooLarge) }
        let payload = JSONReader.object(
            Array(body.readableBytesView), maximumByteCount: PushType.maximumPayloadByteCount,
            maximumDepth: JSONReader.maximumPayloadDepth)
        guard case .object(let aps)? = payload?["aps"] else { throw APNsRefusal(.badRequestPayload) }
        guard type.fits(aps) else { throw APNsRefusal(.invalidPushType) }
    }
}

/// A notification that passed every check, on its way to a device.
package struct APNsNotification: Codable, Hashable, Sendable {
    package var apnsID: String
    package var pushType: PushType
    package var priority: Int
    /// The expiration, in seconds since 1970. Nil: as long as APNs stores notifications. 0: a single attempt.
    package var expiration: Int64?
    package var collapseID: String?
    package var payload: Data
    /// Milliseconds since 1970.
    package var received: Int64

    /// The value of `UNNotificationRequest.identifier` on the device. Source: Apple, that property's page.
    package var identifier: String { collapseID ?? apnsID }

    /// Whether APNs stores it for an offline device, at this time in seconds since 1970.
    func isStored(at now: Int64) -> Bool {
        let longest = received / 1_000 + Self.storageTime
        return min(expiration ?? longest, longest) > now
    }

    /// 30 days, in seconds.
    private static let storageTime: Int64 = 30 * 86_400
}

/// A push type, `apns-push-type`, and its requirements for topic, priority, and size. Source: Apple, "Sending
/// notification requests to APNs".
package enum PushType: String, Codable, Hashable, Sendable, CaseIterable {
    case alert
    case background
    case complication
    case controls
    case fileprovider
    case liveactivity
    case location
    case mdm
    case pushtotalk
    case voip
    case widgets

    /// The suffix of `apns-topic` after the bundle ID. `mdm` has its own topic, without a suffix.
    var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        }
    }

    var payloadByteLimit: Int { self == .voip ? Self.maximumPayloadByteCount : 4_096 }

    static let maximumPayloadByteCount = 5_120

    /// Splits a topic into its bundle ID and suffix.
    static func split(topic: String) -> (bundleID: String, suffix: String) {
        for suffix in suffixes where topic.hasSuffix(suffix) {
            return (String(topic.dropLast(suffix.utf8.count)), suffix)
        }
        return (topic, "")
    }

    private static let suffixes = allCases.map(\.topicSuffix).filter { !$0.isEmpty }

    /// Whether the type fits the payload. Apple: it "must accurately reflect the contents of your notification's payload".
    func fits(_ aps: [String: JSONValue]) -> Bool {
        let isVisible = ["alert", "badge", "sound"].contains { aps[$0] != nil }
        switch self {
        case .alert: return isVisible
        case .background: return aps["content-available"] != nil && !isVisible
        case .complication, .controls, .fileprovider, .liveactivity, .location, .mdm, .pushtotalk, .voip, .widgets:
            return true
        }
    }
}

/// Apple's reason for a refusal, and its HTTP status. Source: Apple, "Handling notification responses from APNs".
package enum APNsReason: String, Hashable, Sendable, CaseIterable {
    case badCollapseID = "BadCollapseId"
    case badDeviceToken = "BadDeviceToken"
    case badExpirationDate = "BadExpirationDate"
    case badMessageID = "BadMessageId"
    case badPriority = "BadPriority"
    /// Apple lists this for broadcasts only; here it's for a payload that isn't a JSON object with `aps`.
    case badRequestPayload = "BadRequestPayload"
    case badTopic = "BadTopic"
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    case duplicateHeaders = "DuplicateHeaders"
    case idleTimeout = "IdleTimeout"
    case invalidPushType = "InvalidPushType"
    case missingDeviceToken = "MissingDeviceToken"
    case missingTopic = "MissingTopic"
    case payloadEmpty = "PayloadEmpty"
    case expiredProviderToken = "ExpiredProviderToken"
    case invalidProviderToken = "InvalidProviderToken"
    case missingProviderToken = "MissingProviderToken"
    case badPath = "BadPath"
    case methodNotAllowed = "MethodNotAllowed"
    case expiredToken = "ExpiredToken"
    case unregistered = "Unregistered"
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    case tooManyRequests = "TooManyRequests"
    case internalServerError = "InternalServerError"
    case serviceUnavailable = "ServiceUnavailable"
    case shutdown = "Shutdown"

    package var status: Int {
        switch self {
        case .expiredProviderToken, .invalidProviderToken, .missingProviderToken: 403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests: 429
        case .internalServerError: 500
        case .serviceUnavailable, .shutdown: 503
        default: 400
        }
    }

    /// Whether the refusal counts against the connection. Source: Apple, the same page: 4xx does, but "410 isn't
    /// considered an error condition".
    package var isErrorCondition: Bool { (400..<500).contains(status) && status != 410 }
}

/// A refusal: the reason and, for 410, the time at which the token became inactive.
package struct APNsRefusal: Error, Hashable, Sendable {
    package let reason: APNsReason
    /// Milliseconds since 1970.
    package var timestamp: Int64?

    package init(_ reason: APNsReason, timestamp: Int64? = nil) {
        self.reason = reason
        self.timestamp = timestamp
    }

    /// The response's body.
    var json: String {
        guard let timestamp else { return "{\"reason\":\"\(reason.rawValue)\"}" }
        return "{\"reason\":\"\(reason.rawValue)\",\"timestamp\":\(timestamp)}"
    }
}
