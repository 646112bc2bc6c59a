package import Foundation

/// How a local APNs behaves. Where Apple does not say, it takes the stricter way; numbers that Apple does not publish
/// are guesses.
package struct LocalAPNsConfiguration: Sendable {
    /// Loopback unless said otherwise: it is a simulator, and anyone who reaches it can see what it got.
    package var host = "127.0.0.1"
    /// 0: any free one.
    package var port = 0
    package var environment = APNsEnvironment.production
    package var faults = APNsFaults()
    /// Of the faults.
    package var seed: UInt64 = .random(in: 0...UInt64(UInt32.max))
    package var log = APNsLogDetail.headers

    /// They count beside those in the folder.
    package var providerKeys: [ProviderKey] = []

    /// Notifications that one online device may leave unacknowledged before `TooManyRequests`.
    package var unacknowledgedLimit = 1_000

    /// From the connection to the peer's SETTINGS.
    package var handshakeTimeout = Duration.seconds(10)
    /// From a request's headers to the end of its body.
    package var requestTimeout = Duration.seconds(30)
    /// Without a request; then GOAWAY `IdleTimeout`.
    package var idleTimeout = Duration.seconds(3_600)
    /// How long a connection has after GOAWAY; longer where the latency fault holds answers back.
    package var closingTime = Duration.seconds(2)
    package var connectionLimit = 1_000

    /// Milliseconds since 1970.
    package var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }

    /// Where a page shows what happens.
    package var page: PagePlace?

    package init() {}
}

package enum APNsEnvironment: String, Hashable, Sendable, CaseIterable, Codable {
    case sandbox
    case production
}

/// What the log holds of a payload.
package enum APNsLogDetail: String, Hashable, Sendable, CaseIterable {
    /// No log at all.
    case off
    /// Headers, outcomes, sizes.
    case headers
    /// The payload too.
    case payloads
}

/// What goes wrong on purpose. Chances are 0 to 1, each drawn for each request that would have been accepted.
package struct APNsFaults: Codable, Hashable, Sendable {
    /// An answer waits this long, at random between the two.
    package var latencyMillisecondsMinimum = 0
    package var latencyMillisecondsMaximum = 0
    /// Delivered, and never answered.
    package var lostResponses = 0.0
    /// RST_STREAM instead of an answer; delivered or not, by a second draw.
    package var resets = 0.0
    /// 429 `TooManyRequests`, not delivered.
    package var tooManyRequests = 0.0
    /// 500 `InternalServerError`, not delivered.
    package var serverErrors = 0.0
    /// 503 `ServiceUnavailable`, not delivered.
    package var unavailable = 0.0
    /// Delivered twice.
    package var duplicates = 0.0
    /// GOAWAY after this many requests on a connection; 0 for never.
    package var goAwayEvery = 0

    /// Streams on a connection after an error, until the next success; Apple's servers have been seen to allow one.
    package var streamsAfterError = 1

    package init() {}

    /// Reads a JSON object of numbers. An absent member keeps its default; an unknown one, or a number out of its
    /// range, is an error.
    package init?(parsing json: Data) {
        guard let given = try? JSONDecoder().decode([String: Double].self, from: json),
            let defaults = try? JSONEncoder().encode(APNsFaults()),
            let known = try? JSONDecoder().decode([String: Double].self, from: defaults),
            given.keys.allSatisfy({ known[$0] != nil }),
            let merged = try? JSONEncoder().encode(known.merging(given) { $1 }),
            let faults = try? JSONDecoder().decode(Self.self, from: merged), faults.isValid
        else { return nil }
        self = faults
    }

    package static let rule: String = {
        let names = (try? JSONSerialization.jsonObject(with: JSONEncoder().encode(APNsFaults()))) as? [String: Any]
        return "faults are a JSON object: chances from 0 to 1, latencies of at most ten minutes; its members are "
            + (names ?? [:]).keys.sorted().joined(separator: ", ")
    }()

    /// Whether each number is in its range.
    package var isValid: Bool {
        let chances = [lostResponses, resets, tooManyRequests, serverErrors, unavailable, duplicates]
        return chances.allSatisfy { (0...1).contains($0) } && tooManyRequests + serverErrors + unavailable <= 1
            && (0...600_000).contains(latencyMillisecondsMaximum)
            && (0...latencyMillisecondsMaximum).contains(latencyMillisecondsMinimum) && goAwayEvery >= 0
            && (1...1_000_000).contains(streamsAfterError)
    }
}

/// What a fault plan does to one request.
struct FaultDecision {
    var refusal: APNsReason?
    var isDelivered = true
    var deliveryCount = 1
    var answer = Answer.given
    var latencyMilliseconds = 0

    enum Answer { case given, lost, reset }

    /// For the log; nil if nothing goes wrong.
    var name: String? {
        if refusal != nil { return "refused" }
        switch answer {
        case .lost: return "lost-response"
        case .reset: return "reset"
        case .given: return deliveryCount > 1 ? "duplicate" : nil
        }
    }
}

/// Draws decisions; the same seed gives the same sequence.
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

/// Small and repeatable; for chances, not for secrets.
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
