import Foundation
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
    func deviceToken() throws(LocalAPNsRefusal) -> String {
        guard method == "POST" else { throw LocalAPNsRefusal(.methodNotAllowed) }
        let prefix = "/3/device"
        guard path.hasPrefix(prefix) else { throw LocalAPNsRefusal(.badPath) }
        let rest = path.dropFirst(prefix.count)
        if rest.isEmpty || rest == "/" { throw LocalAPNsRefusal(.missingDeviceToken) }
        guard rest.first == "/" else { throw LocalAPNsRefusal(.badPath) }
        guard repeated.isEmpty else { throw LocalAPNsRefusal(.duplicateHeaders) }
        return String(rest.dropFirst())
    }

    /// Performs checks 5 to 14, and returns the notification and its bundle ID.
    func notification(
        id: String, at now: Int64
    ) throws(LocalAPNsRefusal) -> (notification: APNsNotification, bundleID: String) {
        guard headers["apns-id"] == nil || apnsID != nil else { throw LocalAPNsRefusal(.badMessageID) }
        guard let type = headers["apns-push-type"].flatMap(PushType.init(rawValue:)) else {
            throw LocalAPNsRefusal(.invalidPushType)
        }
        guard let topic = headers["apns-topic"], !topic.isEmpty else { throw LocalAPNsRefusal(.missingTopic) }
        let (bundleID, suffix) = PushType.split(topic: topic)
        guard suffix == type.topicSuffix else { throw LocalAPNsRefusal(.badTopic) }
        let priority = try priority(type)
        let expiration = try expiration()
        let collapseID = headers["apns-collapse-id"]
        guard collapseID.map({ (1...64).contains($0.utf8.count) }) ?? true
        else { throw LocalAPNsRefusal(.badCollapseID) }
        try checkPayload(type)
        let notification = APNsNotification(
            apnsID: id, pushType: type, priority: priority, expiration: expiration, collapseID: collapseID,
            payload: Data(body.readableBytesView), received: now)
        return (notification, bundleID)
    }

    private func priority(_ type: PushType) throws(LocalAPNsRefusal) -> Int {
        let text = headers["apns-priority"] ?? "10"
        guard let priority = [1, 5, 10].first(where: { text == "\($0)" }) else { throw LocalAPNsRefusal(.badPriority) }
        // Apple: "Always use priority 5 [for background]. Using priority 10 is an error."
        guard type != .background || priority != 10 else { throw LocalAPNsRefusal(.badPriority) }
        return priority
    }

    private func expiration() throws(LocalAPNsRefusal) -> Int64? {
        guard let text = headers["apns-expiration"] else { return nil }
        guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit), let seconds = Int64(text) else {
            throw LocalAPNsRefusal(.badExpirationDate)
        }
        return seconds
    }

    private func checkPayload(_ type: PushType) throws(LocalAPNsRefusal) {
        guard bodyByteCount > 0 else { throw LocalAPNsRefusal(.payloadEmpty) }
        guard bodyByteCount <= type.payloadByteLimit else { throw LocalAPNsRefusal(.payloadTooLarge) }
        let payload = JSONReader.object(
            Array(body.readableBytesView), maximumByteCount: PushType.maximumPayloadByteCount,
            maximumDepth: JSONReader.maximumPayloadDepth)
        guard case .object(let aps)? = payload?["aps"] else { throw LocalAPNsRefusal(.badRequestPayload) }
        guard type.fits(aps) else { throw LocalAPNsRefusal(.invalidPushType) }
    }
}
