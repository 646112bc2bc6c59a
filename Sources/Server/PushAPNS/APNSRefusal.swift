package import PushSender
package import SealedPush

/// A refusal by APNs. Source: Apple, "Handling notification responses from APNs".
package struct APNSRefusal: Hashable, Sendable {
    package let status: Int
    /// Apple's reason, or nil if the body had none. Unknown reasons are kept, up to 64 characters.
    package let reason: String?
    /// With status 410, the time at which APNs determined that the token is no longer valid.
    package let timestamp: Timestamp?

    package init(status: Int, reason: String?, timestamp: Timestamp? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
    }
}

extension APNSRefusal {
    /// The outcome for any sender. Source: the table on Apple's page; Docs/Operations.md describes it in words.
    package var outcome: PushOutcome {
        let plain = PushReason(reason ?? "status \(status)")
        if status == 410 {
            // Don't lose a device to a response that doesn't quite match Apple's description.
            guard reason == "Unregistered" || reason == "ExpiredToken", let since = timestamp else {
                return .later(.doubtful, plain)
            }
            return .gone(since: since, plain)
        }
        switch reason {
        case "BadDeviceToken", "DeviceTokenNotForTopic": return .refused(suspicious)
        // The problem is the connection or its token, not this push, so another connection helps.
        case "IdleTimeout", "Shutdown", "ExpiredProviderToken", "UnrelatedKeyIdInToken":
            return .later(.connection, plain)
        case "TooManyProviderTokenUpdates": return .later(.everything, plain)
        case "TooManyRequests": return .later(.device, plain)
        case "InternalServerError", "ServiceUnavailable": return .later(.service, plain)
        // Perhaps only one of several apps is affected, so the others continue. Many in a row stop the run.
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
        // The reason is missing or unknown.
        return switch status {
        case 401, 403: .stop(wrongProvider)
        case 404, 405, 413: .change(plain)
        case 429: .later(.device, plain)
        case 500...599: .later(.service, plain)
        default: .later(.doubtful, plain)
        }
    }

    /// The outcome as a single word.
    package var advice: APNSAdvice {
        switch outcome {
        case .gone, .refused: .drop
        case .accepted, .later(.doubtful, _): .unknown
        case .later: reason == "TopicDisallowed" ? .fixKeys : .wait
        case .change: .change
        case .stop: .fixKeys
        }
    }

    /// If device after device is refused for this reason, something else is wrong.
    private var suspicious: PushReason {
        let reason = reason ?? ""
        return PushReason(
            reason,
            problem:
                "APNs refuses one device after another (\(reason)); check that the environment, production or sandbox, and the topic match the tokens"
        )
    }

    private var wrongProvider: PushReason {
        let refusal = "APNs refuses this provider (\(status) \(reason ?? "without a reason"))"
        return PushReason(
            reason ?? "status \(status)",
            problem: reason == "InvalidProviderToken"
                ? "\(refusal): the key, its ID, and the team don't match, the key was revoked, or this machine's clock is ahead"
                : "\(refusal); correct the key, the team, or the topic")
    }
}
