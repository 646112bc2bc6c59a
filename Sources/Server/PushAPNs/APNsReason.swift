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
    /// The consequences of a refusal for its push and its connection, and the advice for an operator.
    struct Meaning: Sendable {
        let verdict: Verdict
        let advice: APNsAdvice
        var connection = ConnectionEffect.stays
        var suspicion: Suspicion?
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
        .unregistered: Meaning(verdict: .gone, advice: .drop),
        .expiredToken: Meaning(verdict: .gone, advice: .drop),
        .badDeviceToken: Meaning(verdict: .addressRefused, advice: .drop, suspicion: .setup),
        .deviceTokenNotForTopic: Meaning(verdict: .addressRefused, advice: .drop, suspicion: .setup),

        .idleTimeout: Meaning(verdict: .later(.connection), advice: .wait, connection: .closes),
        .shutdown: Meaning(verdict: .later(.connection), advice: .wait, connection: .closes),
        .unrelatedKeyIDInToken: Meaning(verdict: .later(.connection), advice: .wait, connection: .closes),
        .expiredProviderToken: Meaning(verdict: .later(.connection), advice: .wait, connection: .renewsToken),
        .tooManyProviderTokenUpdates: Meaning(verdict: .later(.everything), advice: .wait, connection: .slowsDown),
        .tooManyRequests: Meaning(verdict: .later(.device), advice: .wait),
        .internalServerError: Meaning(verdict: .later(.service), advice: .wait),
        .serviceUnavailable: Meaning(verdict: .later(.service), advice: .wait),
        // Perhaps only one of several apps is affected, so the others continue. Many in a row stop the run.
        .topicDisallowed: Meaning(verdict: .later(.service), advice: .fixKeys, suspicion: .setup),

        .badTopic: Meaning(verdict: .change, advice: .change, suspicion: .setup),
        .missingTopic: Meaning(verdict: .change, advice: .change, suspicion: .setup),
        .badCollapseID: Meaning(verdict: .change, advice: .change),
        .badExpirationDate: Meaning(verdict: .change, advice: .change),
        .badMessageID: Meaning(verdict: .change, advice: .change),
        .badPath: Meaning(verdict: .change, advice: .change),
        .badPriority: Meaning(verdict: .change, advice: .change),
        .badRequestPayload: Meaning(verdict: .change, advice: .change),
        .duplicateHeaders: Meaning(verdict: .change, advice: .change),
        .invalidPushType: Meaning(verdict: .change, advice: .change),
        .methodNotAllowed: Meaning(verdict: .change, advice: .change),
        .missingDeviceToken: Meaning(verdict: .change, advice: .change),
        .payloadEmpty: Meaning(verdict: .change, advice: .change),
        .payloadTooLarge: Meaning(verdict: .change, advice: .change),

        .badCertificate: Meaning(verdict: .stop, advice: .fixKeys, suspicion: .account),
        .badCertificateEnvironment: Meaning(verdict: .stop, advice: .fixKeys, suspicion: .account),
        .badEnvironmentKeyIDInToken: Meaning(verdict: .stop, advice: .fixKeys, suspicion: .account),
        .badEnvironmentKeyInToken: Meaning(verdict: .stop, advice: .fixKeys, suspicion: .account),
        .forbidden: Meaning(verdict: .stop, advice: .fixKeys, suspicion: .account),
        .invalidProviderToken: Meaning(verdict: .stop, advice: .fixKeys, suspicion: .provider),
        .missingProviderToken: Meaning(verdict: .stop, advice: .fixKeys, suspicion: .account),
    ]
}
