internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushHTTP
internal import PushKeyring
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// `sealedpush outbox`
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "What waits to be delivered, and what could not be.",
        discussion: "Example:\n  sealedpush outbox status --outbox outbox.sqlite",
        subcommands: [
            OutboxStatusCommand.self, OutboxRetryCommand.self, OutboxPurgeCommand.self, OutboxKeyCommand.self,
        ])
}

/// `sealedpush outbox status`
struct OutboxStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Count devices, what waits, what was refused, and what became of the last 30 days' pushes.",
        usage: "sealedpush outbox status [<options>]",
        discussion: """
            What waits is told by the sender key that sealed it: `outbox purge --sender` throws away what a stolen one has.

            Examples:
              sealedpush outbox status --json
              sealedpush outbox status --keyring Keys
              sealedpush outbox status --outbox-key outbox.key
            """)

    @Flag(help: "List the refused pushes, too: public IDs only.") var refused = false

    @Option(help: "A keyring's folder, for the senders' names, and whether a key is revoked.") var keyring: String?

    @Flag(help: "Print one JSON object; with --refused, one more for each refused push.") var json = false

    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func run() async throws {
        try await Failure.reportingAsync {
            let outbox = try await options.opened()
            let status = try await outbox.status()
            let names = try keyring.map(Self.senders) ?? [:]
            let forged = options.outboxKey == nil ? nil : try await outbox.forgedDevices()
            if json {
                try Output.json(status.json(names, forged))
            } else {
                for line in status.lines(names) { try Output.line(line) }
                for line in Self.lines(forged ?? []) { try Output.line(line) }
            }
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

extension OutboxStatusCommand {
    private static func lines(_ forged: [DeviceName]) -> [String] {
        guard !forged.isEmpty else { return [] }
        return [
            "forged    \(Progress.number(forged.count)): somebody without the outbox's key has changed what is sealed to. Remove them, and let them enroll again."
        ] + forged.map { "  \(TerminalText.printable($0.description))" }
    }

    /// What the folder says, for people to read: no secret is asked for, and nothing hangs on it.
    private static func senders(_ folder: String) throws -> [String: KnownSender] {
        try KeyringOptions.mustBeThere(folder)
        let keyring = Keyring(folder: URL(filePath: folder), expecting: .ofUser(), command: "outbox status")
        let entries = try keyring.entries().keys
        return Dictionary(
            entries.filter { $0.kind == .sender }.flatMap { entry in
                entry.keys.map { ($0.key.description, KnownSender(name: entry.name, state: $0.life.state)) }
            }, uniquingKeysWith: { first, _ in first })
    }
}

/// What a keyring says of a sender's key.
private struct KnownSender {
    let name: KeyName
    let state: KeyLife.State

    /// `newsroom, revoked`
    var words: String { "\(name)" + (state == .active ? "" : ", \(state.rawValue)") }
}

/// `sealedpush outbox retry`
struct OutboxRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Let what was refused be sent again, byte for byte as it was, and what was put off at once.",
        usage: "sealedpush outbox retry [<options>]",
        discussion: """
            For when the cause is gone. Tokens that were refused for the same reason are used again.

            Examples:
              sealedpush outbox retry --reason BadDeviceToken
              sealedpush outbox retry --put-off
            """)

    @Option(help: "Only what APNs has refused for this reason.") var reason: String?

    @Flag(help: "What was put off is sent now; refused pushes stay.") var putOff = false

    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func validate() throws {
        guard !putOff || reason == nil else { throw ValidationError("Give either --reason or --put-off.") }
    }

    func run() async throws {
        try await Failure.reportingAsync {
            let outbox = try await options.opened()
            if putOff {
                try await outbox.retryNow()
                return try Output.line("What was put off is due now: `sealedpush work` sends it.")
            }
            let count = try await outbox.retry(reason: reason)
            try Output.line("Waiting again: \(Progress.number(count)). `sealedpush work` sends what waits.")
        }
    }
}

/// `sealedpush outbox purge`
struct OutboxPurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Throw away what is past its time; asked for by name, what was refused, or everything.",
        usage: "sealedpush outbox purge [<options>]",
        discussion: """
            Examples:
              sealedpush outbox purge
              sealedpush outbox purge --refused --reason BadDeviceToken
              sealedpush outbox purge --sender pushsender1... --yes
              sealedpush outbox purge --everything --yes
            """)

    @Flag(help: "What APNs has refused, too.") var refused = false

    @Option(help: "With --refused: only for this reason.") var reason: String?

    @Flag(help: "Also what waits. What is on its way can't be called back.") var everything = false

    @Option(help: "Only what this key has sealed: pushsender1…, as `outbox status` shows it, or anonymous.")
    var sender: SealedBy?

    @Flag(help: "Do not ask.") var yes = false

    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func validate() throws {
        guard [refused, everything, sender != nil].filter({ $0 }).count <= 1 else {
            throw ValidationError("Give one of --refused, --everything and --sender.")
        }
        guard reason == nil || refused else { throw ValidationError("--reason goes with --refused.") }
    }

    func run() async throws {
        try await Failure.reportingAsync {
            let outbox = try await options.opened()
            if everything {
                let count = try await outbox.status().waitingCount
                try Prompt.confirm("\(Progress.number(count)) waiting pushes will never be sent.", isConfirmed: yes)
            }
            if let sender {
                let status = try await outbox.status()
                let count = status.waitingBySender[sender, default: 0]
                let refusedCount = status.deadLettersBySender[sender, default: 0]
                try Prompt.confirm(
                    "\(Progress.number(count)) waiting and \(Progress.number(refusedCount)) refused pushes that this key has sealed will never be sent.",
                    isConfirmed: yes)
            }
            let other: PurgeScope = everything ? .everything : refused ? .deadLetters(reason: reason) : .stale
            let scope = sender.map { .sealed(by: $0) } ?? other
            let count = try await outbox.purge(scope)
            try Output.line("Thrown away: \(Progress.number(count)).")
            if count > 0, scope != .stale {
                Failure.report("hint: enqueue what was meant of it under another --id: the old one counts as enqueued")
            }
        }
    }
}

/// `sealedpush outbox key`
struct OutboxKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Make the key that vouches for an outbox's rows.",
        discussion: """
            Without this key, somebody who can write the database can have nothing sent that was not enqueued, and nothing sealed \
            to a key that was not registered. An outbox has a key from its first row on, or never. Keep a copy apart from the \
            database's.

            Example:
              sealedpush outbox key outbox.key
            """)

    @Argument(help: "The file to make, for its owner alone; never overwritten.") var file: String

    func run() throws {
        try Failure.reporting {
            try OutboxKey.text { text throws in
                let url = URL(filePath: file)
                do throws(DurableFiles.Failure) {
                    try DurableFiles.write(text, to: url, mode: 0o600)
                    try DurableFiles.sync(folder: url.deletingLastPathComponent())
                } catch { throw Failure.file("\(file): \(error.message)") }
            }
            try Output.line("\(file): give it to all who register, enqueue or deliver, with --outbox-key.")
        }
    }
}

extension OutboxStatus {
    fileprivate func lines(_ names: [String: KnownSender]) -> [String] {
        var lines = [
            "devices   \(Progress.number(deviceCount)), \(Progress.number(reachableDeviceCount)) can be sent to",
            "waiting   \(Progress.number(waitingCount))",
        ]
        if waitingCount > 0 {
            let when = nextDue.map { $0 <= .now() ? "due now" : "next \(TimeText.minute($0))" } ?? "-"
            lines += [
                "  devices: \(Progress.number(queues.due)) now, \(Progress.number(queues.leased)) on their way, \(Progress.number(queues.delayed)) put off; \(when)",
                "  of \(Dictionary(waitingDevices.map { ($0.key.shown, $0.value) }, uniquingKeysWith: +).words)",
            ]
            if leasedByHost.count > 1 { lines.append("  on their way from \(leasedByHost.words)") }
            let old = waitingByAge.filter { $0.count > 0 }.map {
                "\(Progress.number($0.count)) older than \(TimeText.span($0.olderThan.components.seconds))"
            }
            if !old.isEmpty { lines.append("  \(old.joined(separator: ", "))") }
            lines += Self.lines(waitingBySender, names)
        }
        lines.append("refused   \(deadLetters.isEmpty ? "0" : deadLetters.words)")
        lines += Self.lines(deadLettersBySender, names)
        lines.append("30 days   \(outcomes.isEmpty ? "nothing sent" : outcomes.words)")
        lines.append("file      \(Progress.number(fileByteCount)) bytes")
        return lines
    }

    /// The key in full: `outbox purge --sender` takes it.
    private static func lines(_ counts: [SealedBy: Int], _ names: [String: KnownSender]) -> [String] {
        counts.sorted { ($1.value, $0.key.description) < ($0.value, $1.key.description) }.map { sealedBy, count in
            let known = [sealedBy.keyID.map { "\($0)" }, names[sealedBy.description]?.words].compactMap { $0 }
            let words = known.isEmpty ? "" : " (\(known.joined(separator: ", ")))"
            return "  \(Progress.number(count)) sealed by \(sealedBy)\(words)"
        }
    }

    private func senders(_ names: [String: KnownSender]) -> JSONValue {
        let all = Set(waitingBySender.keys).union(deadLettersBySender.keys)
        return .array(
            all.sorted { $0.description < $1.description }.map { sealedBy in
                [
                    "sender": .string(sealedBy.description),
                    "keyID": sealedBy.keyID.map { .string($0.description) } ?? .null,
                    "name": names[sealedBy.description].map { .string($0.name.description) } ?? .null,
                    "state": names[sealedBy.description].map { .string($0.state.rawValue) } ?? .null,
                    "waiting": .integer(Int64(waitingBySender[sealedBy, default: 0])),
                    "refused": .integer(Int64(deadLettersBySender[sealedBy, default: 0])),
                ]
            })
    }

    /// - Parameter forged: nil where nobody has looked.
    fileprivate func json(_ names: [String: KnownSender], _ forged: [DeviceName]?) -> JSONValue {
        var members = json.merging(["senders": senders(names)]) { $1 }
        if let forged { members["forged"] = .array(forged.map { .string($0.description) }) }
        return .object(members)
    }
}

extension SealedBy {
    /// Nil where no sender, or none that is known, has sealed.
    fileprivate var keyID: KeyID? {
        guard case .sender(let sender) = self else { return nil }
        return sender.keyID
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
