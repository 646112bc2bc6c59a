/// How many streams a connection may have: one until a push was accepted, fewer after errors, all again after
/// successes; and when it has made too many errors to stay.
struct StreamThrottle {
    private let configuration: LocalAPNsConfiguration
    private var current = 1
    private var hasSucceeded = false
    private var successCount = 0
    private var errorScore = 0.0

    init(_ configuration: LocalAPNsConfiguration) { self.configuration = configuration }

    var isOutOfPatience: Bool { errorScore >= configuration.errorScoreLimit }

    /// The limit to announce after a request, where it has changed.
    mutating func count(_ handled: LocalAPNsCore.Handled) -> [Int] {
        var wanted = current
        if let refusal = handled.refusal {
            if refusal.reason.isErrorCondition {
                errorScore += refusal.reason == .badDeviceToken ? 10 : 1
                successCount = 0
                if hasSucceeded { wanted = min(configuration.streamLimitAfterError, configuration.streamLimit) }
            }
        } else {
            errorScore = max(0, errorScore - 0.1)
            successCount += 1
            // Source: Apple, "Sending notification requests to APNs".
            if !hasSucceeded { successCount = configuration.successesUntilRestored }
            hasSucceeded = true
            if successCount >= configuration.successesUntilRestored { wanted = configuration.streamLimit }
        }
        guard wanted != current else { return [] }
        current = wanted
        return [wanted]
    }
}
