internal import ArgumentParser
internal import CommandSupport
internal import PushCore
internal import PushKeyring
internal import PushOutbox
internal import PushSender
internal import SealedPush

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Seal content for devices, enqueue it, and deliver what is due.",
        discussion: """
            Each device shows the message once. If this command is killed, `sealedpush work` delivers the rest. With --id, \
            retries within 30 days aren't enqueued.

            Example: sealedpush send a.json --all --from news --topic app.id --apns APNs
            Exit status: 0 done, 64 usage, 65 input, 69 clock, 74 file, 75 waiting, 77 key.
            """)

    @Argument(help: ContentFile.help) var file: String

    @Option(help: "The sender: a name in the keyring.") var from: KeyName

    @OptionGroup(title: "Recipients") var recipients: RecipientOptions

    @Option(help: .value("text", "An idempotency key of 1 to 256 bytes.")) var id: IdempotencyKey?

    @Option var priority = PushPriority.immediate

    @Flag(help: "Seal and enqueue only; `sealedpush work` delivers.") var queueOnly = false

    @Flag(help: "Print one JSON object.") var json = false

    @OptionGroup(title: "Sealing") var sealing: SealingOptions
    @OptionGroup(title: "Keyring") var keyring: KeyringOptions
    @OptionGroup(title: "Outbox") var options: OutboxOptions
    @OptionGroup(title: "APNs") var provider: ProviderOptions

    func validate() throws {
        guard !(queueOnly && provider.isGiven)
        else {
            throw ValidationError("--queue-only doesn't deliver; leave it out, or leave out --provider-key and --apns.")
        }
        guard queueOnly || provider.isGiven else {
            throw ValidationError(
                "Use --provider-key KEYID,TEAMID,FILE.p8 to reach APNs, --apns FOLDER for a local one, or --queue-only."
            )
        }
    }

    func run() async throws {
        let interrupt = Interrupt()
        let outbox = try await options.opened()
        // Check all options before enqueuing.
        let account = try queueOnly ? nil : provider.account()
        let content = try ContentFile.read(file)
        let sealer = try sealing.sealer(from: from, keyring.newKeys("send"), keyring)
        interrupt.started()
        let enqueued = try await enqueue(content, from: sealer, to: outbox)
        if !json { try enqueued.print() }
        guard enqueued.enqueuedCount + enqueued.alreadyEnqueuedCount > 0 else {
            if json { try Output.json(.object(enqueued.json)) }
            throw CommandFailure.input(
                enqueued.skipped.isEmpty
                    ? "\(options.shown) has no devices for \(sealing.topic)" : "none of the devices can be sent to")
        }
        guard let account, !interrupt.isInterrupted else {
            if json { try Output.json(.object(enqueued.json)) }
            return
        }
        let summary = try await deliver(from: outbox, as: account, enqueued, interrupt)
        if json {
            try Output.json(.object(enqueued.json.merging(summary.json) { $1 }))
        } else {
            try summary.print()
        }
        if summary.exitStatus != 0 { throw ExitCode(summary.exitStatus) }
    }

    private func deliver(
        from outbox: Outbox, as account: ProviderAccount, _ enqueued: EnqueueReport, _ interrupt: Interrupt
    ) async throws -> DeliverySummary {
        let observation = Observation()
        let run = DeliveryRun(
            outbox: outbox, account: account, logger: .toStandardError(isVerbose: false),
            goal: .nothingDue(within: .seconds(30) * account.limits.delayFactor), interrupt: interrupt,
            patience: .seconds(60),
            observation: observation)
        do {
            return try await DeliverySummary(result: run.run(), status: outbox.status())
        } catch let error as CourierError {
            if json { try Output.json(.object(enqueued.json.merging(["error": .string(error.description)]) { $1 })) }
            throw await observation.failure(error).saying(
                after:
                    ". The enqueued pushes are waiting; fix the problem and run `sealedpush work`, but don't send again"
            )
        }
    }

    private func enqueue(
        _ content: Content, from sealer: Sealer, to outbox: Outbox
    ) async throws -> EnqueueReport {
        let progress = Progress()
        defer { progress.end() }
        let done = Locked(0)
        do throws(OutboxError) {
            let report = try await outbox.enqueue(
                OutgoingMessage(content, priority: priority, key: id), to: recipients.audience, from: sealer,
                includingUnverified: recipients.unverified
            ) { report in
                done.withLock { $0 = report.enqueuedCount + report.alreadyEnqueuedCount }
                progress.show("sealed for \(report.enqueuedCount.grouped) devices")
            }
            ContentFile.warn(of: content)
            return report
        } catch {
            // A broadcast is enqueued in parts.
            let count = done.withLock { $0 }
            guard count > 0 else { throw CommandFailure(error) }
            let way =
                id == nil
                ? "it has no --id, so these devices would get it twice if you send it again"
                : "send it again with the same --id"
            throw CommandFailure(error).saying(
                after: ". The message is enqueued for \(count.grouped) devices, but not for the others; \(way)")
        }
    }
}

/// The options that select the recipients of `send`.
struct RecipientOptions: ParsableArguments {
    @Option(help: "One device.") var device: DeviceName?

    @Option(parsing: .unconditional, help: "All devices of a user.") var user: UserName?

    @Flag(help: "All devices of the app.") var all = false

    @Flag(help: "Include devices whose key has no signed record.") var unverified = false

    func validate() throws {
        guard [device != nil, user != nil, all].count(where: { $0 }) == 1
        else { throw ValidationError("Use one of --device, --user, and --all.") }
    }

    var audience: Audience { device.map { .device($0) } ?? user.map { .user($0) } ?? .everyone }
}

extension EnqueueReport {
    fileprivate func print() throws {
        var text = "Sealed for \(enqueuedCount.grouped) device\(enqueuedCount == 1 ? "" : "s")"
        if alreadyEnqueuedCount > 0 { text += "; already enqueued for \(alreadyEnqueuedCount.grouped)" }
        if !skipped.isEmpty { text += "; skipped: \(skippedCounts.words)" }
        try Output.line("\(text).")
        if !notHybrid.isEmpty {
            try Output.line("Not hybrid: \(notHybrid.map(\.description).joined(separator: ", ")).")
        }
    }
}
