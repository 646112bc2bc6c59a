internal import ArgumentParser
internal import PushOutbox
internal import SealedPush

/// `sealedpush outbox`
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "What waits to be delivered, and what could not be.",
        discussion: "Example:\n  sealedpush outbox status --outbox outbox.sqlite",
        subcommands: [OutboxStatusCommand.self, OutboxRetryCommand.self, OutboxPurgeCommand.self])
}

/// `sealedpush outbox status`
struct OutboxStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Counts devices, what waits, what was refused, and what became of the last 30 days' pushes.",
        discussion: "Example:\n  sealedpush outbox status --json")

    @Flag(help: "List the refused pushes, too: public IDs only.")
    var refused = false

    @Flag(help: "Print one JSON object; with --refused, one more for each refused push.")
    var json = false

    @OptionGroup var options: OutboxOptions

    func run() async throws {
        try await Failure.reportingAsync {
            let outbox = try options.opened()
            let status = try await outbox.status()
            if json { try Output.json(status.json) } else { for line in status.lines { try Output.line(line) } }
            guard refused else { return }
            var offset = 0
            while true {
                let page = try await outbox.deadLetters(offset: offset, limit: 1_000)
                for letter in page { json ? try Output.json(letter.json) : try Output.line(letter.line) }
                guard page.count == 1_000 else { return }
                offset += page.count
            }
        }
    }
}

/// `sealedpush outbox retry`
struct OutboxRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Lets what was refused be sent again, byte for byte as it was, and what was put off at once.",
        discussion: """
            For when the cause is gone. Tokens that were refused for the same reason are used again.

            Examples:
              sealedpush outbox retry --reason BadDeviceToken
              sealedpush outbox retry --put-off
            """)

    @Option(help: "Only what APNs has refused for this reason.")
    var reason: String?

    @Flag(help: "What was put off is sent now; refused pushes stay.")
    var putOff = false

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var options: OutboxOptions

    func validate() throws {
        guard !putOff || reason == nil else { throw ValidationError("Give either --reason or --put-off.") }
    }

    func run() async throws {
        try await Failure.reportingAsync {
            let outbox = try options.opened()
            if putOff {
                try await outbox.retryNow()
                if json { return try Output.json(["putOff": .integer(0)]) }
                return try Output.line("What was put off is due now: `sealedpush work` sends it.")
            }
            let count = try await outbox.retry(reason: reason)
            if json { return try Output.json(["retried": .integer(Int64(count))]) }
            try Output.line("Waiting again: \(Progress.number(count)). `sealedpush work` sends what waits.")
        }
    }
}

/// `sealedpush outbox purge`
struct OutboxPurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Throws away what is past its time; asked for by name, what was refused, or everything.",
        discussion: """
            Examples:
              sealedpush outbox purge
              sealedpush outbox purge --refused --reason BadDeviceToken
              sealedpush outbox purge --everything --yes
            """)

    @Flag(help: "What APNs has refused, too.")
    var refused = false

    @Option(help: "With --refused: only for this reason.")
    var reason: String?

    @Flag(help: "Also what waits. What is on its way can't be called back.")
    var everything = false

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var options: OutboxOptions

    func validate() throws {
        guard !(refused && everything) else { throw ValidationError("Give either --refused or --everything.") }
        guard reason == nil || refused else { throw ValidationError("--reason goes with --refused.") }
    }

    func run() async throws {
        try await Failure.reportingAsync {
            let outbox = try options.opened()
            if everything {
                let count = try await outbox.status().waitingCount
                try Prompt.confirm("\(Progress.number(count)) waiting pushes will never be sent.", isConfirmed: yes)
            }
            let scope: PurgeScope = everything ? .everything : refused ? .deadLetters(reason: reason) : .stale
            let count = try await outbox.purge(scope)
            if json { return try Output.json(["purged": .integer(Int64(count))]) }
            try Output.line("Thrown away: \(Progress.number(count)).")
        }
    }
}

extension OutboxStatus {
    fileprivate var lines: [String] {
        var lines = [
            "devices   \(Progress.number(deviceCount)), \(Progress.number(reachableDeviceCount)) can be sent to",
            "waiting   \(Progress.number(waitingCount))",
        ]
        if waitingCount > 0 {
            let when = nextDue.map { $0 <= .now() ? "due now" : "next \(TimeText.minute($0))" } ?? "-"
            lines += [
                "  devices: \(Progress.number(queues.due)) now, \(Progress.number(queues.leased)) on their way, \(Progress.number(queues.delayed)) put off; \(when)",
                "  of \(Dictionary(waitingDevices.map { ($0.key.rawValue, $0.value) }, uniquingKeysWith: +).words)",
            ]
            let old = waitingByAge.filter { $0.count > 0 }.map {
                "\(Progress.number($0.count)) older than \(TimeText.span($0.olderThan.components.seconds))"
            }
            if !old.isEmpty { lines.append("  \(old.joined(separator: ", "))") }
        }
        lines.append("refused   \(deadLetters.isEmpty ? "0" : deadLetters.words)")
        lines.append("30 days   \(outcomes.isEmpty ? "nothing sent" : outcomes.words)")
        lines.append("file      \(Progress.number(fileByteCount)) bytes")
        return lines
    }

    fileprivate var json: JSONValue {
        [
            "devices": .integer(Int64(deviceCount)), "reachableDevices": .integer(Int64(reachableDeviceCount)),
            "waiting": .integer(Int64(waitingCount)), "dueDevices": .integer(Int64(queues.due)),
            "leasedDevices": .integer(Int64(queues.leased)), "putOffDevices": .integer(Int64(queues.delayed)),
            "waitingDevices": .counts(
                Dictionary(waitingDevices.map { ($0.key.rawValue, $0.value) }, uniquingKeysWith: +)),
            "waitingByAge": .array(
                waitingByAge.map { age in
                    [
                        "olderThanSeconds": .integer(age.olderThan.components.seconds),
                        "count": .integer(Int64(age.count)),
                    ]
                }),
            "nextDue": nextDue.map { .integer($0.secondsSince1970) } ?? .null, "refused": .counts(deadLetters),
            "outcomes": .counts(outcomes), "fileBytes": .integer(Int64(fileByteCount)),
        ]
    }
}

extension DeadLetter {
    fileprivate var line: String {
        let device = device.map { TerminalText.printable($0.description) } ?? "a removed device"
        return "\(apnsID)  \(device)  \(TerminalText.printable(reason))  tried \(attempts)  \(TimeText.minute(died))"
    }

    fileprivate var json: JSONValue {
        [
            "apnsID": .string(apnsID), "device": device.map { .string($0.description) } ?? .null,
            "reason": .string(reason), "attempts": .integer(Int64(attempts)),
            "enqueued": .integer(enqueued.secondsSince1970), "refused": .integer(died.secondsSince1970),
        ]
    }
}
