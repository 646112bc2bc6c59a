package import PushSender
package import SealedPush

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
    /// What it means to any sender. Source: the table of Apple's page; Docs/Operations.md repeats it in words.
    package var outcome: PushOutcome {
        let plain = PushReason(reason ?? "status \(status)")
        if status == 410 {
            // A device is too much to lose by an answer that is not quite as Apple describes it.
            guard reason == "Unregistered" || reason == "ExpiredToken", let since = timestamp else {
                return .later(.doubtful, plain)
            }
            return .gone(since: since, plain)
        }
        switch reason {
        case "BadDeviceToken", "DeviceTokenNotForTopic": return .refused(suspicious)
        // About the connection or its token, and so not about this push: another one helps.
        case "IdleTimeout", "Shutdown", "ExpiredProviderToken", "UnrelatedKeyIdInToken":
            return .later(.connection, plain)
        case "TooManyProviderTokenUpdates": return .later(.everything, plain)
        case "TooManyRequests": return .later(.device, plain)
        case "InternalServerError", "ServiceUnavailable": return .later(.service, plain)
        // About one app of several, perhaps: the others go on. Many in a row end the run.
        case "TopicDisallowed": return .later(.service, suspicious)
        case "BadTopic", "MissingTopic": return .change(suspicious)
        case "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "DuplicateHeaders",
            "InvalidPushType", "MissingDeviceToken", "PayloadEmpty", "PayloadTooLarge", "BadPath",
            "BadRequestPayload", "MethodNotAllowed":
            return .change(plain)
        case "BadCertificate", "BadCertificateEnvironment", "Forbidden", "InvalidProviderToken",
            "MissingProviderToken", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken":
            return .stop(wrongProvider)
        default: break
        }
        // Where the reason says nothing.
        return switch status {
        case 401, 403: .stop(wrongProvider)
        case 404, 405, 413: .change(plain)
        case 429: .later(.device, plain)
        case 500...599: .later(.service, plain)
        default: .later(.doubtful, plain)
        }
    }

    /// The same in a word.
    package var advice: APNSAdvice {
        switch outcome {
        case .gone, .refused: .drop
        case .accepted, .later(.doubtful, _): .unknown
        case .later: reason == "TopicDisallowed" ? .fixKeys : .wait
        case .change: .change
        case .stop: .fixKeys
        }
    }

    /// Where one device after another is refused for it, something else is wrong.
    private var suspicious: PushReason {
        let reason = reason ?? ""
        return PushReason(
            reason,
            problem:
                "APNs refuses one device after another (\(reason)): is this the environment, production or sandbox, and the app that the tokens are of?"
        )
    }

    private var wrongProvider: PushReason {
        let refusal = "APNs refuses this provider (\(status) \(reason ?? "without a reason"))"
        return PushReason(
            reason ?? "status \(status)",
            problem: reason == "InvalidProviderToken"
                ? "\(refusal): the key, its ID and the team don't belong together, the key was revoked, or this machine's clock is ahead"
                : "\(refusal): correct the key, the team or the topic")
    }
}
