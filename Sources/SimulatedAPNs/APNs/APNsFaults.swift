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
    /// Delivered after what comes next for the device, or a second later where nothing does.
    package var reorders = 0.0
    /// Answered with 200 and never delivered.
    package var drops = 0.0
    /// GOAWAY after this many requests on a connection; 0 for never.
    package var goAwayEvery = 0

    private enum CodingKeys: String, CodingKey {
        case latencyMillisecondsMinimum, latencyMillisecondsMaximum, lostResponses, resets, tooManyRequests
        case serverErrors, unavailable, duplicates, reorders, drops, goAwayEvery
    }

    package init() {}

    /// Absent members are 0.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try merge(container)
    }

    /// Whether each number is in its range.
    package var isValid: Bool {
        let chances = [
            lostResponses, resets, tooManyRequests, serverErrors, unavailable, duplicates, reorders, drops,
        ]
        return chances.allSatisfy { (0...1).contains($0) } && tooManyRequests + serverErrors + unavailable <= 1
            && (0...600_000).contains(latencyMillisecondsMaximum)
            && (0...latencyMillisecondsMaximum).contains(latencyMillisecondsMinimum) && goAwayEvery >= 0
    }

    private mutating func merge(_ container: KeyedDecodingContainer<CodingKeys>) throws {
        func read<Value: Decodable>(_ key: CodingKeys, _ value: inout Value) throws {
            if let given = try container.decodeIfPresent(Value.self, forKey: key) { value = given }
        }
        try read(.latencyMillisecondsMinimum, &latencyMillisecondsMinimum)
        try read(.latencyMillisecondsMaximum, &latencyMillisecondsMaximum)
        try read(.lostResponses, &lostResponses)
        try read(.resets, &resets)
        try read(.tooManyRequests, &tooManyRequests)
        try read(.serverErrors, &serverErrors)
        try read(.unavailable, &unavailable)
        try read(.duplicates, &duplicates)
        try read(.reorders, &reorders)
        try read(.drops, &drops)
        try read(.goAwayEvery, &goAwayEvery)
    }
}

/// What a fault plan does to one request.
struct FaultDecision {
    var refusal: APNsReason?
    var isDelivered = true
    var deliveryCount = 1
    var isHeldBack = false
    var answer = Answer.given
    var latencyMilliseconds = 0

    enum Answer { case given, lost, reset }
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
        if draw(faults.drops) { decision.isDelivered = false }
        if draw(faults.duplicates) { decision.deliveryCount = 2 }
        decision.isHeldBack = draw(faults.reorders)
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
