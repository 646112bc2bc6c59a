internal import ArgumentParser
internal import PushSimulator
internal import SimulatedAPNs

/// What goes wrong on purpose.
struct FaultOptions: ParsableArguments {
    @Option(help: "Milliseconds before each answer: one number, or the least and the most, such as 5-40.")
    var latency: String?

    @Option(help: "Delivered, never answered.")
    var lost = 0.0

    @Option(help: "Reset in place of an answer; delivered or not.")
    var resets = 0.0

    @Option(name: .customLong("rate-429"), help: "429 TooManyRequests.")
    var tooManyRequests = 0.0

    @Option(name: .customLong("rate-500"), help: "500 InternalServerError.")
    var serverErrors = 0.0

    @Option(name: .customLong("rate-503"), help: "503 ServiceUnavailable.")
    var unavailable = 0.0

    @Option(help: "Delivered twice.")
    var duplicates = 0.0

    @Option(help: "Delivered after the device's next one, or a second later.")
    var reorder = 0.0

    @Option(help: "Answered with 200, never delivered.")
    var drops = 0.0

    @Option(name: .customLong("goaway-every"), help: "GOAWAY after this many requests on a connection.")
    var goAwayEvery = 0

    func faults() throws -> APNsFaults {
        var faults = APNsFaults()
        if let latency {
            let numbers = latency.split(separator: "-").compactMap { Int($0) }
            guard let least = numbers.first, let most = numbers.last, numbers.count <= 2 else {
                throw ValidationError("--latency is milliseconds, such as 20 or 5-40.")
            }
            faults.latencyMillisecondsMinimum = least
            faults.latencyMillisecondsMaximum = most
        }
        faults.lostResponses = lost
        faults.resets = resets
        faults.tooManyRequests = tooManyRequests
        faults.serverErrors = serverErrors
        faults.unavailable = unavailable
        faults.duplicates = duplicates
        faults.reorders = reorder
        faults.drops = drops
        faults.goAwayEvery = goAwayEvery
        guard faults.isValid else {
            throw ValidationError("A fault's chance is 0 to 1, and a latency at most ten minutes, the least first.")
        }
        return faults
    }
}

/// The numbers that Apple does not publish.
struct LimitOptions: ParsableArguments {
    @Option(help: "Streams on a connection, once a push was accepted.")
    var streamLimit = 1_000

    @Option(help: "Streams after an error.")
    var streamLimitAfterError = 1

    @Option(help: "Successes until the stream limit is back.")
    var successesUntilRestored = 1

    @Option(
        help: "The error score that ends a connection: 10 for BadDeviceToken, 1 for other errors, -0.1 for successes.")
    var errorScoreLimit = 500.0

    @Option(help: "Requests for one device and app in a second before TooManyRequests; 0 for no limit.")
    var deviceRate = 0

    @Option(help: "Seconds without a request before GOAWAY IdleTimeout.")
    var idleTimeout = 3_600.0

    @Option(help: "Threads that serve connections.")
    var threads = 1

    func apply(to configuration: inout LocalAPNsConfiguration) throws {
        guard (1...1_000_000).contains(streamLimit), (1...1_000_000).contains(streamLimitAfterError),
            successesUntilRestored >= 1, errorScoreLimit > 0, deviceRate >= 0, (1...64).contains(threads),
            idleTimeout > 0, idleTimeout <= 31_536_000
        else { throw ValidationError("A limit is out of its range.") }
        configuration.streamLimit = streamLimit
        configuration.streamLimitAfterError = streamLimitAfterError
        configuration.successesUntilRestored = successesUntilRestored
        configuration.errorScoreLimit = errorScoreLimit
        configuration.requestsPerDevicePerSecond = deviceRate
        configuration.idleTimeout = .seconds(idleTimeout)
        configuration.threadCount = threads
    }
}
