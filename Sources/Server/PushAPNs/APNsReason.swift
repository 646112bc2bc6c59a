internal import PushSender

/// Apple's name for the reason of a refusal, or of a connection's end. A name that isn't listed below has no ``meaning``.
/// Source: Apple, "Handling notification responses from APNs".
package struct APNsReason: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let badCertificate = APNsReason(rawValue: "BadCertificate")
    package static let badCertificateEnvironment = APNsReason(rawValue: "BadCertificateEnvironment")
    package static let badCollapseID = APNsReason(rawValue: "BadCollapseId")
    package static let badDeviceToken = APNsReason(rawValue: "BadDeviceToken")
    package static let badEnvironmentKeyIDInToken = APNsReason(rawValue: "BadEnvironmentKeyIdInToken")
    package static let badEnvironmentKeyInToken = APNsReason(rawValue: "BadEnvironmentKeyInToken")
    package static let badExpirationDate = APNsReason(rawValue: "BadExpirationDate")
    package static let badMessageID = APNsReason(rawValue: "BadMessageId")
    package static let badPath = APNsReason(rawValue: "BadPath")
    package static let badPriority = APNsReason(rawValue: "BadPriority")
    package static let badRequestPayload = APNsReason(rawValue: "BadRequestPayload")
    package static let badTopic = APNsReason(rawValue: "BadTopic")
    package static let deviceTokenNotForTopic = APNsReason(rawValue: "DeviceTokenNotForTopic")
    package static let duplicateHeaders = APNsReason(rawValue: "DuplicateHeaders")
    package static let expiredProviderToken = APNsReason(rawValue: "ExpiredProviderToken")
    package static let expiredToken = APNsReason(rawValue: "ExpiredToken")
    package static let forbidden = APNsReason(rawValue: "Forbidden")
    package static let idleTimeout = APNsReason(rawValue: "IdleTimeout")
    package static let internalServerError = APNsReason(rawValue: "InternalServerError")
    package static let invalidProviderToken = APNsReason(rawValue: "InvalidProviderToken")
    package static let invalidPushType = APNsReason(rawValue: "InvalidPushType")
    package static let methodNotAllowed = APNsReason(rawValue: "MethodNotAllowed")
    package static let missingDeviceToken = APNsReason(rawValue: "MissingDeviceToken")
    package static let missingProviderToken = APNsReason(rawValue: "MissingProviderToken")
    package static let missingTopic = APNsReason(rawValue: "MissingTopic")
    package static let payloadEmpty = APNsReason(rawValue: "PayloadEmpty")
    package static let payloadTooLarge = APNsReason(rawValue: "PayloadTooLarge")
    package static let serviceUnavailable = APNsReason(rawValue: "ServiceUnavailable")
    package static let shutdown = APNsReason(rawValue: "Shutdown")
    package static let tooManyProviderTokenUpdates = APNsReason(rawValue: "TooManyProviderTokenUpdates")
    package static let tooManyRequests = APNsReason(rawValue: "TooManyRequests")
    package static let topicDisallowed = APNsReason(rawValue: "TopicDisallowed")
    package static let unregistered = APNsReason(rawValue: "Unregistered")
    package static let unrelatedKeyIDInToken = APNsReason(rawValue: "UnrelatedKeyIdInToken")
}

extension APNsReason {
    /// The consequences of a refusal for its push and its connection, and the likely mistake.
    struct Meaning: Sendable {
        let verdict: Verdict
        var connection = ConnectionEffect.stays
        var suspicion: Suspicion?

        /// The verdict as a single word, for an operator.
        var advice: APNsAdvice {
            switch verdict {
            case .gone, .addressRefused: .drop
            case .later(.doubtful): .unknown
            // The push waits until somebody has corrected the mistake.
            case .later: suspicion == nil ? .wait : .fixKeys
            case .change: .change
            case .stop: .fixKeys
            }
        }
    }

    /// A ``PushOutcome`` without the values of a single refusal.
    enum Verdict: Sendable, Equatable {
        case gone
        case addressRefused
        case later(PushDelay)
        case change
        case stop
    }

    enum ConnectionEffect: Sendable {
        case stays
        /// The connection or its token is the problem, not this push, so another connection helps.
        case closes
        /// The same, but a new connection has to wait.
        case slowsDown
        /// The same, but it also needs a new provider token. The push is sent again at once.
        case renewsToken
    }

    /// The likely mistake if push after push is refused for this reason.
    enum Suspicion: Sendable {
        /// The environment or the topic.
        case setup
        /// The provider's key, ID, or team, or this machine's clock.
        case provider
        /// The same, but the reason doesn't say that the token is invalid.
        case account
    }

    /// The reason's meaning, or nil if this version doesn't know the reason. Docs/Operations.md has the table in words.
    var meaning: Meaning? { Self.meanings[self] }

    /// Whether the reason for a connection's end asks to slow down. Apple may add reasons of this kind.
    var asksToSlowDown: Bool { rawValue.hasPrefix("TooMany") }

    private static let meanings: [APNsReason: Meaning] = [
        .unregistered: Meaning(verdict: .gone),
        .expiredToken: Meaning(verdict: .gone),
        .badDeviceToken: Meaning(verdict: .addressRefused, suspicion: .setup),
        .deviceTokenNotForTopic: Meaning(verdict: .addressRefused, suspicion: .setup),

        .idleTimeout: Meaning(verdict: .later(.connection), connection: .closes),
        .shutdown: Meaning(verdict: .later(.connection), connection: .closes),
        .unrelatedKeyIDInToken: Meaning(verdict: .later(.connection), connection: .closes),
        .expiredProviderToken: Meaning(verdict: .later(.connection), connection: .renewsToken),
        .tooManyProviderTokenUpdates: Meaning(verdict: .later(.everything), connection: .slowsDown),
        .tooManyRequests: Meaning(verdict: .later(.device)),
        .internalServerError: Meaning(verdict: .later(.service)),
        .serviceUnavailable: Meaning(verdict: .later(.service)),
        // Perhaps only one of several apps is affected, so the others continue. Many in a row stop the run.
        .topicDisallowed: Meaning(verdict: .later(.service), suspicion: .setup),

        .badTopic: Meaning(verdict: .change, suspicion: .setup),
        .missingTopic: Meaning(verdict: .change, suspicion: .setup),
        .badCollapseID: Meaning(verdict: .change),
        .badExpirationDate: Meaning(verdict: .change),
        .badMessageID: Meaning(verdict: .change),
        .badPath: Meaning(verdict: .change),
        .badPriority: Meaning(verdict: .change),
        .badRequestPayload: Meaning(verdict: .change),
        .duplicateHeaders: Meaning(verdict: .change),
        .invalidPushType: Meaning(verdict: .change),
        .methodNotAllowed: Meaning(verdict: .change),
        .missingDeviceToken: Meaning(verdict: .change),
        .payloadEmpty: Meaning(verdict: .change),
        .payloadTooLarge: Meaning(verdict: .change),

        .badCertificate: Meaning(verdict: .stop, suspicion: .account),
        .badCertificateEnvironment: Meaning(verdict: .stop, suspicion: .account),
        .badEnvironmentKeyIDInToken: Meaning(verdict: .stop, suspicion: .account),
        .badEnvironmentKeyInToken: Meaning(verdict: .stop, suspicion: .account),
        .forbidden: Meaning(verdict: .stop, suspicion: .account),
        .invalidProviderToken: Meaning(verdict: .stop, suspicion: .provider),
        .missingProviderToken: Meaning(verdict: .stop, suspicion: .account),
    ]
}
