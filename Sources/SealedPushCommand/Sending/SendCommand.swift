internal import ArgumentParser
internal import CommandSupport
internal import PushAPNS
internal import PushKeyring
internal import PushOutbox
internal import PushSender
internal import PushServer
internal import SealedPush

/// `sealedpush send`
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Seals content for devices, puts it into the outbox, and delivers what is due there.",
        discussion: """
            What is enqueued is sealed, and is sent at least once, whatever is killed: `sealedpush work` goes on where \
            this command was stopped. A device shows each message once. With --id, the same command again enqueues \
            nothing twice, whatever its content, for 30 days. Ctrl-C waits for what is on its way.

            Examples:
              sealedpush send content.json --user bob --from newsroom --topic com.example.app --keyring Keys \\
                --provider-key AuthKey_ABCDE12345.p8 --key-id ABCDE12345 --team-id FGHIJ67890
              sealedpush send content.json --all --id autumn-offer --from newsroom --topic com.example.app --apns APNs
              sealedpush send content.json --all --queue-only --from newsroom --topic com.example.app

            Exit status: 0 all taken by APNs (or enqueued, with --queue-only), 64 wrong use, 65 unusable input, no device, or \
            something was refused for good, 69 wrong clock, 74 files, 75 something still waits, 77 keys. Given up after a \
            minute in which APNs took nothing.
            """)

    @Argument(help: ContentFile.help)
    var file: String

    @Option(help: "To one device.")
    var device: DeviceName?

    @Option(parsing: .unconditional, help: "To all devices of a user.")
    var user: UserName?

    @Flag(help: "To all devices of the app.")
    var all = false

    @Option(
        help: """
            Your own name for this message, of 1 to 256 bytes: asked again under it, nothing is enqueued twice, for 30 days.
            """)
    var id: IdempotencyKey?

    @Option(
        help: """
            With --all: on how many thousand devices to work at once, 1 to 16. The same command under the same --id, run \
            on several hosts at once, shares the work too.
            """)
    var workers = 2

    @Flag(help: "To devices too whose key no signed record vouches for.")
    var unverified = false

    @Option(help: "immediate, or considerate: when it suits the device's battery.")
    var priority = PriorityName.immediate

    @Flag(help: "Seal and enqueue only; `sealedpush work` delivers.")
    var queueOnly = false

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var sealing: SealingOptions
    @OptionGroup var keyring: KeyringOptions
    @OptionGroup var options: OutboxOptions
    @OptionGroup var provider: ProviderOptions
    @OptionGroup var delays: DelayOptions

    func validate() throws {
        guard [device != nil, user != nil, all].count(where: { $0 }) == 1 else {
            throw ValidationError("Give one of --device, --user and --all.")
        }
        guard (1...16).contains(workers) else { throw ValidationError("--workers takes 1 to 16.") }
        guard !(queueOnly && provider.isGiven) else {
            throw ValidationError("--queue-only delivers nothing: leave out how to reach APNs, or --queue-only.")
        }
        guard queueOnly || provider.isGiven else {
            throw ValidationError(
                "Say how to reach APNs (--provider-key FILE.p8 --key-id ID --team-id ID, or --apns FOLDER for a local one), or --queue-only."
            )
        }
    }

    func run() async throws {
        try await Failure.reportingAsync {
            let interrupt = Interrupt()
            let outbox = try await options.opened()
            // Everything is looked at before anything is enqueued.
            if !queueOnly { try await provider.transport().transport.shutDown() }
            let enqueued = try await enqueue(outbox)
            if !json { try enqueued.print() }
            guard enqueued.enqueuedCount + enqueued.alreadyEnqueuedCount > 0 else {
                if json { try Output.json(.object(enqueued.json)) }
                throw Failure.input(
                    enqueued.skipped.isEmpty
                        ? "there are no devices of \(sealing.topic) in \(options.outbox)" : "no device can be sent to")
            }
            if queueOnly || interrupt.isInterrupted {
                if json { try Output.json(.object(enqueued.json)) }
                return
            }
            let summary = try await deliver(from: outbox, enqueued, interrupt)
            if json {
                try Output.json(.object(enqueued.json.merging(summary.json) { $1 }))
            } else {
                try summary.print()
            }
            if summary.exitStatus != 0 { throw ExitCode(summary.exitStatus) }
        }
    }

    private func deliver(
        from outbox: Outbox, _ enqueued: EnqueueReport, _ interrupt: Interrupt
    ) async throws -> DeliverySummary {
        let run = DeliveryRun(
            outbox: outbox, provider: provider, goal: .nothingDue(within: .seconds(30) * delays.scale),
            limits: delays.limits, interrupt: interrupt, patience: .seconds(60))
        do {
            return try await DeliverySummary(run.run(), in: outbox)
        } catch let error as CourierError {
            if json { try Output.json(.object(enqueued.json.merging(["error": .string(error.description)]) { $1 })) }
            var failure = Failure.courier(error)
            failure.message +=
                ". What was enqueued waits: put it right, and run `sealedpush work`; do not send it again"
            throw failure
        }
    }

    private func enqueue(_ outbox: Outbox) async throws -> EnqueueReport {
        let content = try ContentFile.read(file)
        guard content.expires.map({ $0 > .now() }) ?? true else {
            throw Failure.input("\(file): the content has expired, and nothing was enqueued")
        }
        let sealer = try sealing.sealer(keyring.newKeys("send"), keyring)
        let progress = SharedProgress()
        let report = try await outbox.enqueue(
            content, to: audience, from: sealer, priority: priority.priority, includingUnverified: unverified,
            key: id, workerCount: workers
        ) { report in progress.show("sealed for \(Progress.number(report.enqueuedCount)) devices") }
        progress.end()
        ContentFile.warn(of: content)
        return report
    }

    private var audience: Audience { device.map { .device($0) } ?? user.map { .user($0) } ?? .everyone }
}

extension EnqueueReport {
    fileprivate func print() throws {
        var text = "Sealed for \(Progress.number(enqueuedCount)) device\(enqueuedCount == 1 ? "" : "s")"
        if alreadyEnqueuedCount > 0 { text += "; \(Progress.number(alreadyEnqueuedCount)) had it enqueued before" }
        if !skipped.isEmpty { text += "; left out: \(skippedCounts.words)" }
        try Output.line("\(text).")
    }

    fileprivate var json: [String: JSONValue] {
        [
            "enqueued": .integer(Int64(enqueuedCount)), "alreadyEnqueued": .integer(Int64(alreadyEnqueuedCount)),
            "skipped": .counts(skippedCounts),
        ]
    }

    private var skippedCounts: [String: Int] {
        Dictionary(skipped.map { ($0.key.rawValue, $0.value) }, uniquingKeysWith: +)
    }
}

/// `apns-priority`, by name.
enum PriorityName: String, ExpressibleByArgument, CaseIterable {
    case immediate
    case considerate

    var priority: PushPriority {
        switch self {
        case .immediate: .immediate
        case .considerate: .considerate
        }
    }
}
