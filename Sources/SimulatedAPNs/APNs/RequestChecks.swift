internal import NIOCore
internal import SealedPush
internal import _PushBase

/// The checks of a request, in the order in which this server makes them. Apple's order is not published.
///
/// 1. `:method` (405), 2. `:path` (404, `MissingDeviceToken`), 3. repeated headers, 4. the provider token (403, 429; see
/// ``ProviderTokens``), 5. `apns-id`, 6. `apns-push-type`, 7. `apns-topic` and its suffix, 8. whether the key may send to
/// the topic, 9. `apns-priority`, 10. `apns-expiration`, 11. `apns-collapse-id`, 12. an empty payload, 13. its size, 14. its
/// JSON, 15. whether it fits the push type; then the device token (``DeviceRegistry``): 16. `BadDeviceToken`, 17.
/// `DeviceTokenNotForTopic`, 18. 410, 19. too many requests for one device.
struct RequestChecks {
    let configuration: LocalAPNsConfiguration

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
        guard UUIDText.isCanonical(text, allowingCapitals: !configuration.isStrict(.idCase)) else {
            throw APNsRefusal(.badMessageID)
        }
        return configuration.isStrict(.idCase) ? text : text.lowercased()
    }

    func pushType(_ request: ProviderRequest) throws(APNsRefusal) -> PushType {
        guard let text = request.pushType else {
            guard configuration.isStrict(.missingPushType) else { return .alert }
            throw APNsRefusal(.invalidPushType)
        }
        guard let type = PushType(rawValue: text) else { throw APNsRefusal(.invalidPushType) }
        return type
    }

    /// The topic's bundle ID.
    func bundleID(_ request: ProviderRequest, _ type: PushType) throws(APNsRefusal) -> String {
        guard let topic = request.topic, !topic.isEmpty else { throw APNsRefusal(.missingTopic) }
        let (bundleID, suffix) = PushType.split(topic: topic)
        if configuration.isStrict(.topicSuffix), suffix != type.topicSuffix { throw APNsRefusal(.badTopic) }
        return bundleID
    }

    func priority(_ request: ProviderRequest, _ type: PushType) throws(APNsRefusal) -> Int {
        let priority: Int
        switch request.priority {
        case "10": priority = 10
        case "5": priority = 5
        case "1": priority = 1
        case nil: priority = type == .background && !configuration.isStrict(.backgroundPriority) ? 5 : 10
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
        if text.isEmpty {
            guard configuration.isStrict(.emptyCollapseID) else { return nil }
            throw APNsRefusal(.badCollapseID)
        }
        guard text.utf8.count <= 64 else { throw APNsRefusal(.badCollapseID) }
        return text
    }

    func checkPayload(_ request: ProviderRequest, _ type: PushType) throws(APNsRefusal) {
        guard request.bodyByteCount > 0 else { throw APNsRefusal(.payloadEmpty) }
        guard request.bodyByteCount <= type.payloadByteLimit else { throw APNsRefusal(.payloadTooLarge) }
        let outline = request.bodyView.withContiguousStorageIfAvailable { PayloadOutline(scanning: $0) } ?? nil
        guard let outline, outline.hasAps else {
            if configuration.isStrict(.payload) { throw APNsRefusal(.badRequestPayload) }
            return
        }
        if configuration.isStrict(.pushTypeOfPayload), !outline.fits(type) { throw APNsRefusal(.invalidPushType) }
    }
}

/// The text form of a UUID.
enum UUIDText {
    static func isCanonical(_ text: String, allowingCapitals: Bool) -> Bool {
        guard text.utf8.count == 36 else { return false }
        for (index, byte) in text.utf8.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                if byte != UInt8(ascii: "-") { return false }
                continue
            }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): continue
            case UInt8(ascii: "A")...UInt8(ascii: "F"): if !allowingCapitals { return false }
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
