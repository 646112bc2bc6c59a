import Foundation
package import SealedPush

/// The configuration of a local APNs. If Apple doesn't document a behavior, the stricter one is chosen; numbers that
/// Apple doesn't publish are guesses.
package struct LocalAPNsConfiguration: Sendable {
    /// The address to listen on; loopback by default, because anyone who can reach a simulator can see what it received.
    package var host = "127.0.0.1"
    /// The port to listen on; 0 for any free port.
    package var port = 0
    package var environment = PushEnvironment.production
    package var faults = APNsFaults()
    /// The seed for injected faults.
    package var seed: UInt64 = .random(in: 0...UInt64(UInt32.max))
    package var log = APNsLogDetail.headers

    /// Provider keys that are accepted in addition to those in the folder.
    package var providerKeys: [AcceptedProviderKey] = []

    /// The number of notifications that an online device may leave unacknowledged before `TooManyRequests`.
    package var unacknowledgedLimit = 1_000

    /// How long the peer may take to send its SETTINGS after connecting.
    package var handshakeTimeout = Duration.seconds(10)
    /// How long a request may take from its headers to the end of its body.
    package var requestTimeout = Duration.seconds(30)
    /// How long a connection may be idle before the server sends GOAWAY with `IdleTimeout`.
    package var idleTimeout = Duration.seconds(3_600)
    /// How long a connection stays open after GOAWAY; longer if the latency fault delays responses.
    package var closingTime = Duration.seconds(2)
    package var connectionLimit = 1_000

    /// Returns the current time, in milliseconds since 1970.
    package var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }

    /// The address of the page; nil for none.
    package var page: PagePlace?

    package init() {}
}

/// A random source of fault decisions. The same seed produces the same sequence.
struct FaultDice {
    var faults: APNsFaults
    private var random: SplitMix64

    init(_ faults: APNsFaults, seed: UInt64) {
        self.faults = faults
        random = SplitMix64(state: seed)
    }

    mutating func decide() -> FaultDecision {
        var decision = FaultDecision()
        if faults == APNsFaults() { return decision }
        if faults.latencyMillisecondsMaximum > 0 {
            decision.latencyMilliseconds = Int.random(
                in: faults.latencyMillisecondsMinimum...faults.latencyMillisecondsMaximum, using: &random)
        }
        let refused = Double.random(in: 0..<1, using: &random)
        if refused < faults.tooManyRequests {
            decision.refusal = .tooManyRequests
        } else if refused < faults.tooManyRequests + faults.serverErrors {
            decision.refusal = .internalServerError
        } else if refused < faults.tooManyRequests + faults.serverErrors + faults.unavailable {
            decision.refusal = .serviceUnavailable
        }
        if decision.refusal != nil { return decision }
        if draw(faults.resets) {
            decision.answer = .reset
            decision.isDelivered = draw(0.5)
        } else if draw(faults.lostResponses) {
            decision.answer = .lost
        }
        if draw(faults.duplicates) { decision.deliveryCount = 2 }
        return decision
    }

    private mutating func draw(_ chance: Double) -> Bool {
        chance > 0 && Double.random(in: 0..<1, using: &random) < chance
    }
}

/// A small, reproducible random number generator; not suitable for secrets.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }
}
