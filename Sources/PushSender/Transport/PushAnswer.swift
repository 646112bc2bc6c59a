public import SealedPush

/// What APNs answered.
public enum PushAnswer: Hashable, Sendable {
    /// 200: APNs has taken it. Whether it reaches the device, nobody says.
    ///
    /// - Parameter uniqueID: `apns-unique-id`, which only Apple's development environment gives.
    case accepted(uniqueID: String?)
    case refused(PushRefusal)
}

/// A refusal by APNs. Source: Apple, "Handling notification responses from APNs".
public struct PushRefusal: Hashable, Sendable {
    /// The HTTP status.
    public let status: Int
    /// Apple's word for it; nil where the body had none. Unknown ones are carried through, at most 64 characters.
    public let reason: String?
    /// With status 410: since when APNs knows that the token is no longer valid.
    public let timestamp: Timestamp?

    public init(status: Int, reason: String?, timestamp: Timestamp? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
    }
}

/// What the caller should do about a refusal.
public enum PushAdvice: String, Hashable, Sendable, CaseIterable {
    /// The device's token is no good any more: drop the push, and the token (410: if it was registered before the timestamp).
    case drop
    /// Nothing is wrong with the push: send it again, later.
    case wait
    /// The push itself can't be delivered as it is: a mistake in the request.
    case change
    /// The provider's keys, topic or entitlements are wrong: stop, and tell an operator.
    case fixKeys = "fix-keys"
    /// A reason that this version does not know.
    case unknown
}

extension PushRefusal {
    /// Source: the table of Apple's page; Docs/Operations.md repeats it in words.
    public var advice: PushAdvice {
        if status == 410 { return isTokenGone ? .drop : .unknown }
        return switch reason {
        case "BadDeviceToken", "DeviceTokenNotForTopic": .drop
        case "IdleTimeout", "TooManyProviderTokenUpdates", "TooManyRequests", "InternalServerError",
            "ServiceUnavailable", "Shutdown", "ExpiredProviderToken", "UnrelatedKeyIdInToken":
            .wait
        case "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic", "DuplicateHeaders",
            "InvalidPushType", "MissingDeviceToken", "MissingTopic", "PayloadEmpty", "PayloadTooLarge", "BadPath",
            "BadRequestPayload", "MethodNotAllowed":
            .change
        case "BadCertificate", "BadCertificateEnvironment", "Forbidden", "InvalidProviderToken",
            "MissingProviderToken", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken", "TopicDisallowed":
            .fixKeys
        default: Self.advice(status: status)
        }
    }

    /// A device is too much to lose by an answer that is not quite as Apple describes it.
    private var isTokenGone: Bool { (reason == "Unregistered" || reason == "ExpiredToken") && timestamp != nil }

    /// Where the reason says nothing.
    private static func advice(status: Int) -> PushAdvice {
        switch status {
        case 401, 403: .fixKeys
        case 404, 405, 413: .change
        case 429, 500...599: .wait
        default: .unknown
        }
    }
}
