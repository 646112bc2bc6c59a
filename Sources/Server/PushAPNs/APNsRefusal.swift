package import PushSender
package import SealedPush

/// A refusal by APNs. Source: Apple, "Handling notification responses from APNs".
package struct APNsRefusal: Hashable, Sendable {
    package let status: Int
    /// Apple's reason, or nil if the body had none. Unknown reasons are kept, up to 64 characters.
    package let reason: APNsReason?
    /// For status 410, the time at which APNs found that the token was no longer valid.
    package let timestamp: Timestamp?

    package init(status: Int, reason: APNsReason?, timestamp: Timestamp? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
    }
}

extension APNsRefusal {
    /// The outcome for any sender.
    package var outcome: PushOutcome {
        let name = reason?.rawValue ?? "status \(status)"
        let found = PushReason(name, problem: meaning.suspicion.map(problem))
        return switch meaning.verdict {
        // ``meaning`` requires the time.
        case .gone: timestamp.map { .gone(since: $0, found) } ?? .later(.doubtful, found)
        case .addressRefused: .addressRefused(found)
        case .later(let delay): .later(delay, found)
        case .change: .change(found)
        case .stop: .stop(found)
        }
    }

    /// How to react, as a single word.
    package var advice: APNsAdvice { meaning.advice }

    /// The meaning of the reason, or of the status if the reason is missing, unknown, or for another status.
    private var meaning: APNsReason.Meaning {
        let known = reason?.meaning
        if status == 410 || known?.verdict == .gone {
            // Don't lose a device to a response that doesn't quite match Apple's description.
            let isGone = status == 410 && timestamp != nil
            guard let known, known.verdict == .gone, isGone else { return ofStatus }
            return known
        }
        return known ?? ofStatus
    }

    private var ofStatus: APNsReason.Meaning {
        switch status {
        case 401, 403: APNsReason.Meaning(verdict: .stop, suspicion: .account)
        case 404, 405, 413: APNsReason.Meaning(verdict: .change)
        case 429: APNsReason.Meaning(verdict: .later(.device))
        case 500...599: APNsReason.Meaning(verdict: .later(.service))
        default: APNsReason.Meaning(verdict: .later(.doubtful))
        }
    }

    private func problem(_ suspicion: APNsReason.Suspicion) -> String {
        let words = reason?.rawValue ?? "without a reason"
        let refusal = "APNs refuses this provider (\(status) \(words))"
        return switch suspicion {
        case .setup:
            "APNs refuses one device after another (\(words)); check that the environment, production or sandbox, and the topic match the tokens"
        case .provider:
            "\(refusal): the key, its ID, and the team don't match, the key was revoked, or this machine's clock is ahead"
        case .account: "\(refusal); correct the key, the team, or the topic"
        }
    }
}
