internal import ArgumentParser
internal import CommandSupport
internal import PushOutbox
internal import SealedPush

/// `sealedpush work`
struct WorkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "work",
        abstract: "Delivers what waits in the outbox, until it is stopped.",
        discussion: """
            Several may work on one outbox at once. Ctrl-C and SIGTERM end it in good order: what is on its way is waited \
            for. Killed at any point, nothing is lost, and no device shows a message twice.

            Examples:
              sealedpush work --provider-key AuthKey_ABCDE12345.p8 --key-id ABCDE12345 --team-id FGHIJ67890
              sealedpush work --apns APNs --until-empty --metrics 127.0.0.1:9102

            Exit status: 0 stopped, or nothing waits; 64 wrong use, 65 unusable input, 69 wrong clock, 74 files, 75 busy; with \
            --until-empty 65 something was refused for good, 75 something waits for the other environment. 77 APNs refuses the key, the team or the topic.
            """)

    @Flag(help: "End when nothing waits any more.")
    var untilEmpty = false

    @Flag(help: "Print one JSON object at the end.")
    var json = false

    @OptionGroup var options: OutboxOptions
    @OptionGroup var provider: ProviderOptions
    @OptionGroup var delays: DelayOptions
    @OptionGroup var observing: ObservationOptions

    func run() async throws {
        try await Failure.reportingAsync {
            let interrupt = Interrupt()
            let outbox = try await options.opened()
            let observation = Observation()
            let delivery = DeliveryRun(
                outbox: outbox, provider: provider, goal: untilEmpty ? .empty : .stopped, limits: delays.limits,
                interrupt: interrupt, observation: observation)
            let result = try await observing.serving(observation, of: outbox, provider.logger, interrupt) {
                try await delivery.run()
            }
            let summary = try await DeliverySummary(result, in: outbox)
            if json { try Output.json(.object(summary.json)) } else { try summary.print() }
            if untilEmpty, summary.exitStatus != 0 { throw ExitCode(summary.exitStatus) }
        }
    }
}

/// How long a push that could not be delivered is put off.
struct DelayOptions: ParsableArguments {
    @Option(
        name: .customLong("delays"),
        help: "Times Apple's delays, such as 15 minutes after a 5xx; less than 1 is for tests against a local APNs.")
    var scale = 1.0

    @Option(
        help: "Seconds for which a push that was taken is this process's: after a kill, the next one waits for so long."
    )
    var lease = 120

    func validate() throws {
        guard scale >= 0.000_001, scale <= 10 else { throw ValidationError("--delays is 0.000001 to 10.") }
        guard (1...3_600).contains(lease) else { throw ValidationError("--lease is 1 to 3600 seconds.") }
    }

    var limits: CourierLimits {
        var limits = CourierLimits(lease: .seconds(lease))
        limits.delays = limits.delays.scaled(by: scale)
        return limits
    }
}
