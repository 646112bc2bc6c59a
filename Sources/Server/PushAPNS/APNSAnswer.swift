package import PushSender
package import SealedPush

/// What APNs answered.
package enum APNSAnswer: Hashable, Sendable {
    /// 200, with `apns-unique-id`, which only Apple's development environment gives.
    case accepted(uniqueID: String?)
    case refused(APNSRefusal)

    var outcome: PushOutcome {
        switch self {
        case .accepted(let uniqueID): .accepted(uniqueID: uniqueID)
        case .refused(let refusal): refusal.outcome
        }
    }
}

/// A refusal by APNs. Source: Apple, "Handling notification responses from APNs".
package struct APNSRefusal: Hashable, Sendable {
    /// The HTTP status.
    package let status: Int
    /// Apple's word for it; nil where the body had none. Unknown ones are carried through, at most 64 characters.
    package let reason: String?
    /// With status 410: since when APNs knows that the token is no longer valid.
    package let timestamp: Timestamp?

    package init(status: Int, reason: String?, timestamp: Timestamp? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
    }
}

/// What a refusal asks for, for logs and metrics.
package enum APNSAdvice: String, Hashable, Sendable, CaseIterable {
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

extension APNSRefusal {
    /// Source: the table of Apple's page; Docs/Operations.md repeats it in words.
    package var advice: APNSAdvice {
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
    private static func advice(status: Int) -> APNSAdvice {
        switch status {
        case 401, 403: .fixKeys
        case 404, 405, 413: .change
        case 429, 500...599: .wait
        default: .unknown
        }
    }

    /// The same for whoever sends.
    package var outcome: PushOutcome {
        let reason = PushReason(reason ?? "status \(status)", problem: problem)
        switch advice {
        case .drop:
            guard status == 410, let timestamp else { return .refused(reason) }
            return .gone(since: timestamp, reason)
        case .wait: return .later(delay, reason)
        case .change: return .change(reason)
        // About one app of several, perhaps: the others go on. Many in a row end the run.
        case .fixKeys: return self.reason == "TopicDisallowed" ? .later(.service, reason) : .stop(reason)
        case .unknown: return .later(.doubtful, reason)
        }
    }

    private var delay: PushDelay {
        switch reason {
        case "TooManyRequests": .device
        case "TooManyProviderTokenUpdates": .everything
        // About the connection or its token, and so not about this push: another one helps.
        case "IdleTimeout", "Shutdown", "ExpiredProviderToken", "UnrelatedKeyIdInToken": .connection
        default: status == 429 ? .device : .service
        }
    }

    private var problem: String? {
        switch (advice, reason) {
        case (_, "BadDeviceToken"?), (_, "DeviceTokenNotForTopic"?), (_, "BadTopic"?), (_, "MissingTopic"?),
            (_, "TopicDisallowed"?):
            "APNs refuses one device after another (\(reason ?? "")): is this the environment, production or sandbox, and the app that the tokens are of?"
        case (.fixKeys, "InvalidProviderToken"?):
            "APNs refuses this provider (\(status) InvalidProviderToken): the key, its ID and the team don't belong together, the key was revoked, or this machine's clock is ahead"
        case (.fixKeys, _):
            "APNs refuses this provider (\(status) \(reason ?? "without a reason")): correct the key, the team or the topic"
        default: nil
        }
    }
}
