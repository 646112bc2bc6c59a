internal import NIOCore
internal import PushCore
internal import SealedPush

/// The checks of a request, in the order in which this server makes them. Apple's order is not published.
///
/// 1. `:method` (405), 2. `:path` (404, `MissingDeviceToken`), 3. repeated headers, 4. the provider token (403, 429; see
/// ``ProviderTokens``), 5. `apns-id`, 6. `apns-push-type`, 7. `apns-topic` and its suffix, 8. `apns-priority`,
/// 9. `apns-expiration`, 10. `apns-collapse-id`, 11. an empty payload, 12. its size, 13. its JSON, 14. whether it fits the
/// push type; then the device token (``DeviceRegistry``): 15. `BadDeviceToken`, 16. `DeviceTokenNotForTopic`, 17. 410,
/// 18. too many requests for one device.
struct RequestChecks {
    /// What comes before the provider token.
    func checkRequestLine(_ request: ProviderRequest) throws(APNsRefusal) -> Substring {
        guard request.method == "POST" else { throw APNsRefusal(.methodNotAllowed) }
        let prefix = "/3/device"
        guard request.path.hasPrefix(prefix) else { throw APNsRefusal(.badPath) }
        let rest = request.path.dropFirst(prefix.count)
        if rest.isEmpty || rest == "/" { throw APNsRefusal(.missingDeviceToken) }
        guard rest.first == "/" else { throw APNsRefusal(.badPath) }
        if !request.repeated.isEmpty { throw APNsRefusal(.duplicateHeaders) }
        return rest.dropFirst()
    }

    /// The canonical form of a UUID; nil makes one.
    func apnsID(_ request: ProviderRequest) throws(APNsRefusal) -> String? {
        guard let text = request.apnsID else { return nil }
        // Whether Apple takes capitals is not known.
        guard UUIDText.isCanonical(text) else { throw APNsRefusal(.badMessageID) }
        return text
    }

    func pushType(_ request: ProviderRequest) throws(APNsRefusal) -> PushType {
        guard let type = request.pushType.flatMap(PushType.init(rawValue:)) else { throw APNsRefusal(.invalidPushType) }
        return type
    }

    /// The topic's bundle ID.
    func bundleID(_ request: ProviderRequest, _ type: PushType) throws(APNsRefusal) -> String {
        guard let topic = request.topic, !topic.isEmpty else { throw APNsRefusal(.missingTopic) }
        let (bundleID, suffix) = PushType.split(topic: topic)
        if suffix != type.topicSuffix { throw APNsRefusal(.badTopic) }
        return bundleID
    }

    func priority(_ request: ProviderRequest, _ type: PushType) throws(APNsRefusal) -> Int {
        let priority: Int
        switch request.priority {
        case "10", nil: priority = 10
        case "5": priority = 5
        case "1": priority = 1
        default: throw APNsRefusal(.badPriority)
        }
        // Apple: "Always use priority 5 [for background]. Using priority 10 is an error."
        if type == .background, priority == 10 { throw APNsRefusal(.badPriority) }
        return priority
    }

    func expiration(_ request: ProviderRequest) throws(APNsRefusal) -> Int64? {
        guard let text = request.expiration else { return nil }
        guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit),
            let seconds = Int64(text)
        else { throw APNsRefusal(.badExpirationDate) }
        return seconds
    }

    func collapseID(_ request: ProviderRequest) throws(APNsRefusal) -> String? {
        guard let text = request.collapseID else { return nil }
        guard (1...64).contains(text.utf8.count) else { throw APNsRefusal(.badCollapseID) }
        return text
    }

    func checkPayload(_ request: ProviderRequest, _ type: PushType) throws(APNsRefusal) {
        guard request.bodyByteCount > 0 else { throw APNsRefusal(.payloadEmpty) }
        guard request.bodyByteCount <= type.payloadByteLimit else { throw APNsRefusal(.payloadTooLarge) }
        let outline = request.bodyView.withContiguousStorageIfAvailable { PayloadOutline(scanning: $0) } ?? nil
        guard let outline, outline.hasAps else { throw APNsRefusal(.badRequestPayload) }
        if !outline.fits(type) { throw APNsRefusal(.invalidPushType) }
    }
}

/// The text form of a UUID.
enum UUIDText {
    static func isCanonical(_ text: String) -> Bool {
        guard text.utf8.count == 36 else { return false }
        for (index, byte) in text.utf8.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                if byte != UInt8(ascii: "-") { return false }
                continue
            }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): continue
            default: return false
            }
        }
        return true
    }

    /// A random one, version 4.
    static func make(using random: inout some RandomNumberGenerator) -> String {
        let high = random.next() & 0xffff_ffff_ffff_0fff | 0x4000
        let low = random.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
        return String(unsafeUninitializedCapacity: 36) { text in
            var place = 0
            for index in 0..<32 {
                if place == 8 || place == 13 || place == 18 || place == 23 {
                    text[place] = UInt8(ascii: "-")
                    place += 1
                }
                let word = index < 16 ? high : low
                let shift = UInt64(60 - 4 * (index & 15))
                text[place] = Hex.digits[Int(word >> shift & 15)]
                place += 1
            }
            return 36
        }
    }
}
