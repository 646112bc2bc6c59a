internal import ArgumentParser
internal import CommandSupport
internal import PushOutbox
internal import SealedPush

/// `sealedpush work`
struct WorkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "work", abstract: "Deliver what waits in the outbox until stopped.",
        usage: "sealedpush work [<options>]",
        discussion: """
            Several may work on one outbox at once. If one is killed, nothing is lost, and no device shows a message twice. \
            Ctrl-C and SIGTERM wait for what is in transit.

            Examples:
              sealedpush work --provider-key ABCDE12345,FGHIJ67890,AuthKey.p8
              sealedpush work --apns APNs --until-empty --metrics 127.0.0.1:9102

            Exit status: 0 stopped, or nothing waits; 64 usage, 65 input, 69 wrong clock, 74 files, 75 busy, 77 APNs refuses the \
            key, the team or the topic. With --until-empty 65 something was refused, 75 something waits for the other environment.
            """)

    @Flag(help: "End when nothing waits any more.") var untilEmpty = false

    @Flag(help: "Print one JSON object at the end.") var json = false

    @OptionGroup(title: "Outbox") var options: OutboxOptions
    @OptionGroup(title: "APNs") var provider: ProviderOptions
    @OptionGroup(title: "Watching") var observing: ObservationOptions

    func run() async throws {
        try await Failure.reportingAsync {
            let interrupt = Interrupt()
            let outbox = try await options.opened()
            let observation = Observation()
            let delivery = DeliveryRun(
                outbox: outbox, account: try provider.account(), logger: observing.logger,
                goal: untilEmpty ? .empty : .stopped, interrupt: interrupt, observation: observation)
            let result = try await observing.serving(observation, of: outbox, interrupt) { try await delivery.run() }
            let summary = try await DeliverySummary(result, in: outbox)
            if json { try Output.json(.object(summary.json)) } else { try summary.print() }
            if untilEmpty, summary.exitStatus != 0 { throw ExitCode(summary.exitStatus) }
        }
    }
}
