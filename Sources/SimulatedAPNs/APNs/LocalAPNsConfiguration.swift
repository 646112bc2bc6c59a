internal import Foundation

/// How a local APNs behaves. The numbers that Apple does not publish are guesses, and all of them can be set.
package struct LocalAPNsConfiguration: Sendable {
    /// Loopback unless said otherwise: it is a simulator, and anyone who reaches it can see what it got.
    package var host = "127.0.0.1"
    /// 0: any free one.
    package var port = 0
    /// On 127.0.0.1, whatever ``host`` is.
    package var controlPort = 0
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
    package var controlConnectionLimit = 100

    /// Provider tokens.
    package var maximumTokenAge: Int64 = 3_600
    package var tokenUpdateInterval: Int64 = 1_200
    package var futureTolerance: Int64 = 300
    /// For notifications without `apns-expiration`, in seconds: 30 days.
    package var storageTime: Int64 = 30 * 86_400

    /// Milliseconds since 1970.
    package var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }

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
