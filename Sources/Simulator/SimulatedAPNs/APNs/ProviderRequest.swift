package import Foundation
internal import NIOCore
internal import NIOHPACK

/// One request as it came: headers by name, and the body up to the largest that any push may have.
struct ProviderRequest {
    var method = ""
    var path = ""
    var authorization: String?
    var apnsID: String?
    var pushType: String?
    var topic: String?
    var priority: String?
    var expiration: String?
    var collapseID: String?
    /// Further ones under a name that there was already.
    var repeated: [(name: String, value: String)] = []
    /// What does not fit is counted and thrown away.
    var body: ByteBuffer?
    var bodyByteCount = 0
    /// As HTTP/2 counts: 32 more for each field.
    private(set) var headerByteCount = 0

    init(_ headers: HPACKHeaders) {
        for (name, value, _) in headers {
            headerByteCount += name.utf8.count + value.utf8.count + 32
            switch name {
            case ":method": method = value
            case ":path": path = value
            case "authorization": Self.set(&authorization, name, value, &repeated)
            case "apns-id": Self.set(&apnsID, name, value, &repeated)
            case "apns-push-type": Self.set(&pushType, name, value, &repeated)
            case "apns-topic": Self.set(&topic, name, value, &repeated)
            case "apns-priority": Self.set(&priority, name, value, &repeated)
            case "apns-expiration": Self.set(&expiration, name, value, &repeated)
            case "apns-collapse-id": Self.set(&collapseID, name, value, &repeated)
            default: break
            }
        }
    }

    private static func set(
        _ field: inout String?, _ name: String, _ value: String, _ repeated: inout [(name: String, value: String)]
    ) {
        if field == nil { field = value } else { repeated.append((name, value)) }
    }

    mutating func append(_ data: inout ByteBuffer) {
        bodyByteCount += data.readableBytes
        guard bodyByteCount <= PushType.maximumPayloadByteCount else { return }
        if body == nil { body = data } else { body?.writeBuffer(&data) }
    }

    var bodyView: ByteBufferView { (body ?? ByteBuffer()).readableBytesView }
}

/// A request that passed every check, on its way to a device.
package struct APNsNotification: Codable, Hashable, Sendable {
    package var apnsID: String
    package var pushType: PushType
    package var priority: Int
    /// Nil: for as long as APNs stores. 0: one attempt.
    package var expiration: Int64?
    package var collapseID: String?
    package var payload: Data
    /// Milliseconds since 1970.
    package var received: Int64

    /// What `UNNotificationRequest.identifier` will be. Source: Apple, that property's page.
    package var identifier: String { collapseID ?? apnsID }

    /// Seconds since 1970; nil where it is not stored.
    func storedUntil(storageTime: Int64) -> Int64? {
        let longest = received / 1_000 + storageTime
        guard let expiration else { return longest }
        return expiration == 0 ? nil : min(expiration, longest)
    }
}

/// `apns-push-type`, with what each asks of topic, priority and size. Source: Apple, "Sending notification requests to
/// APNs".
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

    /// What `apns-topic` has behind the bundle ID. `mdm` has a topic of its own, without a suffix.
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

    /// The bundle ID that a topic is of, and the type whose suffix it has.
    static func split(topic: String) -> (bundleID: String, suffix: String) {
        // Only the last parts can be a suffix; most topics have none.
        for suffix in suffixes where topic.hasSuffix(suffix) {
            return (String(topic.dropLast(suffix.utf8.count)), suffix)
        }
        return (topic, "")
    }

    private static let suffixes = allCases.map(\.topicSuffix).filter { !$0.isEmpty }
}

/// Apple's word for a refusal, and its HTTP status. Source: Apple, "Handling notification responses from APNs".
package enum APNsReason: String, Hashable, Sendable, CaseIterable {
    case badCollapseID = "BadCollapseId"
    case badDeviceToken = "BadDeviceToken"
    case badExpirationDate = "BadExpirationDate"
    case badMessageID = "BadMessageId"
    case badPriority = "BadPriority"
    /// Apple lists it for broadcasts only; here for a payload that is no JSON object with `aps`.
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

    /// Whether it counts against the connection. Source: Apple, the same page: 4xx does, "410 isn't considered an error
    /// condition".
    package var isErrorCondition: Bool { (400..<500).contains(status) && status != 410 }
}

/// A refusal: the reason, and with 410 since when.
package struct APNsRefusal: Error, Hashable, Sendable {
    package let reason: APNsReason
    /// Milliseconds since 1970.
    package var timestamp: Int64?

    package init(_ reason: APNsReason, timestamp: Int64? = nil) {
        self.reason = reason
        self.timestamp = timestamp
    }

    /// The answer's body.
    var json: String {
        guard let timestamp else { return "{\"reason\":\"\(reason.rawValue)\"}" }
        return "{\"reason\":\"\(reason.rawValue)\",\"timestamp\":\(timestamp)}"
    }
}
