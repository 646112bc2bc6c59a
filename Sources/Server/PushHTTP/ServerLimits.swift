internal import PushOutbox

package struct ServerLimits: Sendable {
    /// The number of requests that an account can send at once, plus one more per second.
    package var accountBurst = 60
    /// The number of notifications that can be sent at once with a token for them, plus one more every ten seconds.
    package var notifyBurst = 60
    /// The clock for rate limits and cached counts.
    package var clock: @Sendable () -> ContinuousClock.Instant = { .now }
    /// The number of phone requests processed at once; further ones wait their turn.
    package var admittedCount = 16
    /// The longest time that phone requests wait: half as long as a phone waits for a response.
    package var admissionPatience = Duration.seconds(5)
    /// The number of devices per account, so that a stolen login can't fill the outbox.
    package var deviceCount = 100
    /// The number of batches processed at once, up to 16 MiB each; further ones wait.
    package var batchCount = 8
    /// The longest time that batches wait: short enough that the request's own deadline leaves time for the body.
    package var batchPatience = Duration.seconds(10)
    /// The number of connections at each listener. Fewer if the process may open only a few files.
    package var connectionCount = 4_096
    /// The time allowed from a phone's connection to the head of its first request.
    package var firstHeadTime = Duration.seconds(5)
    /// The time allowed for sending a whole request, and for receiving the whole response.
    package var requestTime = Duration.seconds(30)
    /// The time allowed before a back end's first request, and between two requests.
    package var idleTime = Duration.seconds(30)
    /// The longest time that `/readyz` waits for the outbox: less than a database call may take.
    package var readinessPatience = Duration.seconds(2)
    /// The time from one purge of expired records to the next.
    package var upkeepInterval = Duration.seconds(3_600)

    package init() {}

    /// For one message.
    static let bodyByteCount = OrderReader.maximumByteCount
    /// For a webhook, which may have many alerts or a picture.
    static let webhookByteCount = 262_144
    /// For a batch.
    static let batchByteCount = 16 << 20
    static let batchLineCount = 1_000
}
