internal import Foundation

/// How a local APNs behaves. The numbers that Apple does not publish are guesses, and all of them can be set.
package struct LocalAPNsConfiguration: Sendable {
    /// Loopback unless said otherwise: it is a simulator, and anyone who reaches it can see what it got.
    package var host = "127.0.0.1"
    /// 0: any free one.
    package var port = 0
    package var threadCount = 1
    package var environment = APNsEnvironment.production
    package var lenient: Set<APNsQuestion> = []
    package var faults = APNsFaults()
    /// Of the faults.
    package var seed: UInt64 = .random(in: 0...UInt64(UInt32.max))
    package var log = APNsLogDetail.headers

    /// SETTINGS_MAX_CONCURRENT_STREAMS, once a push was accepted. Observed: 1,000.
    package var streamLimit = 1_000
    /// After an error condition, until `successesUntilRestored` have followed. Observed: 1, restored after one.
    package var streamLimitAfterError = 1
    package var successesUntilRestored = 1
    /// A connection's error score is 1 for each error condition, 10 for `BadDeviceToken`, less 0.1 for each success; at
    /// this score it gets a GOAWAY.
    package var errorScoreLimit = 500.0
    /// Requests for one device and app within a second, before `TooManyRequests`; 0 for no limit.
    package var requestsPerDevicePerSecond = 0
    /// Notifications that one online device may leave unacknowledged before `TooManyRequests`.
    package var unacknowledgedLimit = 1_000

    /// Takes any token of 64 hexadecimal digits, of devices that nobody has registered too: for measurements.
    package var acceptsAnyDevice = false

    /// From the connection to the peer's SETTINGS.
    package var handshakeTimeout = Duration.seconds(10)
    /// From a request's headers to the end of its body; also from a frame's or header block's first byte to its last.
    package var requestTimeout = Duration.seconds(30)
    /// Without a request; then GOAWAY `IdleTimeout`.
    package var idleTimeout = Duration.seconds(3_600)
    /// How long a connection has after GOAWAY; longer where the latency fault holds answers back.
    package var closingTime = Duration.seconds(2)
    package var connectionLimit = 1_000
    /// Of the control endpoint: from a connection, or its last answer, to the end of the next request.
    package var controlTimeout = Duration.seconds(30)

    /// Provider tokens.
    package var maximumTokenAge: Int64 = 3_600
    package var tokenUpdateInterval: Int64 = 1_200
    package var futureTolerance: Int64 = 300
    /// For notifications without `apns-expiration`, in seconds: 30 days.
    package var storageTime: Int64 = 30 * 86_400

    /// Milliseconds since 1970.
    package var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }

    /// Told what happens, on the threads of the connections; nil where nobody looks.
    package var watcher: (@Sendable (LocalAPNsEvent) -> Void)?

    package init() {}

    func isStrict(_ question: APNsQuestion) -> Bool { !lenient.contains(question) }
}

package enum APNsEnvironment: String, Hashable, Sendable, CaseIterable, Codable {
    case sandbox
    case production
}

/// What the log holds of a payload.
package enum APNsLogDetail: String, Hashable, Sendable, CaseIterable {
    /// No log at all.
    case off
    /// Headers, outcomes, sizes; of the payload `aps`, the other keys' names and their values' lengths.
    case headers
    /// The payload too.
    case payloads
}

/// What Apple leaves unknown: each is a switch, strict unless it is made lenient.
package enum APNsQuestion: String, Hashable, Sendable, CaseIterable, Codable {
    /// Strict: an `apns-id` in capitals is `BadMessageId`. Lenient: taken, and echoed in small letters.
    case idCase = "id-case"
    /// Strict: no `apns-push-type` is `InvalidPushType`. Lenient: it is an alert.
    case missingPushType = "missing-push-type"
    /// Strict: a payload that does not fit its push type is `InvalidPushType`: an alert without alert, badge and sound; a
    /// background push with one of them, or without `content-available`.
    case pushTypeOfPayload = "push-type-of-payload"
    /// Strict: a topic without its push type's suffix, or with another's, is `BadTopic`. Lenient: taken where it is the
    /// device's with any suffix.
    case topicSuffix = "topic-suffix"
    /// Strict: a background push without `apns-priority` is `BadPriority`, since the default is 10. Lenient: it is 5.
    case backgroundPriority = "background-priority"
    /// Strict: an empty `apns-collapse-id` is `BadCollapseId`. Lenient: it counts as missing.
    case emptyCollapseID = "empty-collapse-id"
    /// Strict: a body that is no JSON object with an object `aps` is `BadRequestPayload`. Lenient: it is taken, and no
    /// device shows anything.
    case payload
    /// Strict: a provider token from more than five minutes ahead is `InvalidProviderToken`. Lenient: it is as good as any.
    case futureToken = "future-token"
    /// Strict: a provider token made less than 20 minutes after the connection's current one is
    /// `TooManyProviderTokenUpdates`. Lenient: the first change on a connection is free.
    case firstTokenUpdate = "first-token-update"
    /// Strict: the documented `BadEnvironmentKeyIdInToken`. Lenient: the `BadEnvironmentKeyInToken` that was seen.
    case environmentReason = "environment-reason"
    /// Strict: a key of the same team that is not the connection's first is `UnrelatedKeyIdInToken`, unless both are for
    /// the whole team or registered as related. Lenient: any key of the team.
    case relatedKeys = "related-keys"
    /// Strict: a client that does not offer `h2` by ALPN is closed. Lenient: one that offers nothing is taken to speak
    /// HTTP/2. (The Python package aioapns offers nothing, and is used with Apple's servers.)
    case missingALPN = "missing-alpn"
    /// Strict: what a device had been sent but not acknowledged when it went away is sent again, all of it. Lenient: only
    /// the newest, as one that was stored.
    case unacknowledged
}
