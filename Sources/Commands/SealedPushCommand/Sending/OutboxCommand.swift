internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushHTTP
internal import PushKeyring
internal import PushOutbox
internal import PushSender
internal import SealedPush

struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "What waits to be delivered, what could not be, and what devices have shown.",
        discussion: "Example:\n  sealedpush outbox status --outbox outbox.sqlite",
        subcommands: [OutboxStatusCommand.self, OutboxRetryCommand.self, OutboxPurgeCommand.self])
}

struct OutboxStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Count devices, what waits, what was refused, and what became of the last 30 days' pushes.",
        usage: "sealedpush outbox status [<options>]",
        discussion: """
            What waits is told by the sender key that sealed it: `outbox purge --sender` throws away what a stolen one has. \
            The keyring, if it is there, gives the senders' names, and says whether a key is revoked.

            Receipts say what devices have shown and what did not open: they post them to `serve` for messages that ask for \
            them (`send --receipts URL`). A device on which nothing opens sends none.

            Examples:
              sealedpush outbox status --json
              sealedpush outbox status --from newsroom --keyring Keys
            """)

    @Flag(help: "List the refused pushes, too: public IDs only.") var refused = false

    @Option(help: .value("sender", "List the devices that sent it no receipt, or had failures."))
    var from: KeyName?

    @Flag(help: "Print one JSON object, and one for each that is listed.") var json = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions
    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func run() async throws {
        let sender = try from.map { try keyring.keys("outbox status").senderKey(named: $0) }
        let outbox = try await options.opened(toShow: true)
        let status = try await outbox.status()
        let receipts = try await outbox.receipts()
        let names = try senders()
        let forged = options.outboxKey == nil ? nil : try await outbox.forgedDevices()
        if json {
            var members = status.json.merging(["senders": status.senders(names), "receipts": receipts.jsonWithHints]) {
                $1
            }
            // Nobody has looked for them without the key.
            members["forged"] = forged.map { .array($0.map { .text($0) }) }
            try Output.json(.object(members))
        } else {
            for line in status.lines(names) + Self.lines(forged ?? []) + receipts.lines { try Output.line(line) }
        }
        if refused { try await listRefused(in: outbox) }
        if let sender { try await listDevices(in: outbox, sender) }
    }

    private func listRefused(in outbox: Outbox) async throws {
        var offset = 0
        while true {
            let page = try await outbox.deadLetters(offset: offset, limit: 1_000)
            for letter in page { json ? try Output.json(letter.json) : try Output.line(letter.line) }
            guard page.count == 1_000 else { return }
            offset += page.count
        }
    }

    private func listDevices(in outbox: Outbox, _ sender: SenderPrivateKey) async throws {
        var keys: [Topic: ReceiptKey] = [:]
        try await outbox.forEachPage { page in
            for device in page {
                guard let recipient = device.recipient else { continue }
                let key = keys[device.topic] ?? ReceiptKey(of: sender, for: device.topic)
                keys[device.topic] = key
                let told = try await outbox.receipts(of: key.id(of: recipient))
                guard told?.failedCount != 0 else { continue }
                json ? try Output.json(Self.json(device, told)) : try Output.line(Self.line(device, told))
            }
        }
    }

    private static func line(_ device: RegisteredDevice, _ told: ReceiptDevice?) -> String {
        let name = TerminalText.printable(device.name)
        guard let told else { return "\(name)  no receipt" }
        return
            "\(name)  shown \(told.shownCount.grouped), did not open \(told.failedCount.grouped), last \(TimeText.minute(told.last))"
    }

    private static func json(_ device: RegisteredDevice, _ told: ReceiptDevice?) -> JSONValue {
        [
            "device": .text(device.name), "shown": .count(told?.shownCount ?? 0),
            "failed": .count(told?.failedCount ?? 0), "last": .seconds(told?.last),
        ]
    }

    private static func lines(_ forged: [DeviceName]) -> [String] {
        guard !forged.isEmpty else { return [] }
        return [
            "forged    \(forged.count.grouped): somebody without the outbox's key has changed what is sealed to. Remove them, and let them enroll again."
        ] + forged.map { "  \(TerminalText.printable($0))" }
    }

    /// What the keyring's folder says, for people to read: no secret is asked for, and nothing hangs on it.
    private func senders() throws -> [String: KnownSender] {
        guard FileManager.default.fileExists(atPath: keyring.keyring) else { return [:] }
        let keys = Keyring(folder: URL(filePath: keyring.keyring), expecting: .ofUser(), command: "outbox status")
        return Dictionary(
            try keys.entries().keys.filter { $0.kind == .sender }.flatMap { entry in
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
        let outbox = try await options.opened()
        if putOff {
            let count = try await outbox.retryNow()
            return try Output.line(
                "Due now, of what was put off: \(count.grouped). `sealedpush work` sends what waits.")
        }
        let count = try await outbox.retry(reason: reason)
        try Output.line("Waiting again: \(count.grouped). `sealedpush work` sends what waits.")
    }
}

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
        guard [refused, everything, sender != nil].filter({ $0 }).count <= 1
        else { throw ValidationError("Give one of --refused, --everything and --sender.") }
        guard reason == nil || refused else { throw ValidationError("--reason goes with --refused.") }
    }

    func run() async throws {
        let outbox = try await options.opened()
        let scope: PurgeScope
        if everything {
            let count = try await outbox.status().waitingCount
            try Prompt.confirm("\(count.grouped) waiting pushes will never be sent.", isConfirmed: yes)
            scope = .everything
        } else if let sender {
            let status = try await outbox.status()
            let waiting = status.waitingBySender[sender, default: 0].grouped
            let refused = status.deadLettersBySender[sender, default: 0].grouped
            try Prompt.confirm(
                "\(waiting) waiting and \(refused) refused pushes that this key has sealed will never be sent.",
                isConfirmed: yes)
            scope = .sealed(by: sender)
        } else {
            scope = refused ? .deadLetters(reason: reason) : .stale
        }
        let count = try await outbox.purge(scope)
        try Output.line("Thrown away: \(count.grouped).")
        if count > 0, scope != .stale {
            Failure.report("hint: enqueue what was meant of it under another --id: the old one counts as enqueued")
        }
    }
}

extension OutboxStatus {
    fileprivate func lines(_ names: [String: KnownSender]) -> [String] {
        var lines = [
            "devices   \(deviceCount.grouped), \(reachableDeviceCount.grouped) can be sent to",
            "waiting   \(waitingCount.grouped)",
        ]
        if waitingCount > 0 {
            let when = nextDue.map { $0 <= .now() ? "due now" : "next \(TimeText.minute($0))" } ?? "-"
            lines += [
                "  devices: \(queues.due.grouped) now, \(queues.leased.grouped) on their way, \(queues.delayed.grouped) put off; \(when)",
                "  of \(Dictionary(waitingDevices.map { ($0.key.shown, $0.value) }, uniquingKeysWith: +).words)",
            ]
            if leasedByHost.count > 1 { lines.append("  on their way from \(leasedByHost.words)") }
            let old = waitingByAge.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map {
                "\($0.value.grouped) older than \(TimeText.span($0.key.components.seconds))"
            }
            if !old.isEmpty { lines.append("  \(old.joined(separator: ", "))") }
            lines += Self.lines(waitingBySender, names)
        }
        lines.append("refused   \(deadLetters.isEmpty ? "0" : deadLetters.words)")
        lines += Self.lines(deadLettersBySender, names)
        lines.append("30 days   \(outcomes.isEmpty ? "nothing sent" : outcomes.words)")
        lines.append("file      \(fileByteCount.grouped) bytes")
        return lines
    }

    /// The key in full: `outbox purge --sender` takes it.
    private static func lines(_ counts: [SealedBy: Int], _ names: [String: KnownSender]) -> [String] {
        counts.sorted { ($1.value, $0.key.description) < ($0.value, $1.key.description) }.map { sealedBy, count in
            let known = [sealedBy.keyID.map { "\($0)" }, names[sealedBy.description]?.words].compactMap { $0 }
            let words = known.isEmpty ? "" : " (\(known.joined(separator: ", ")))"
            return "  \(count.grouped) sealed by \(sealedBy)\(words)"
        }
    }

    fileprivate func senders(_ names: [String: KnownSender]) -> JSONValue {
        let all = Set(waitingBySender.keys).union(deadLettersBySender.keys)
        return .array(
            all.sorted { $0.description < $1.description }.map { sealedBy in
                let known = names[sealedBy.description]
                return [
                    "sender": .text(sealedBy), "keyID": .text(sealedBy.keyID), "name": .text(known?.name),
                    "state": .text(known?.state.rawValue), "waiting": .count(waitingBySender[sealedBy, default: 0]),
                    "refused": .count(deadLettersBySender[sealedBy, default: 0]),
                ]
            })
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
        let device = device.map { TerminalText.printable($0) } ?? "a removed device"
        return "\(apnsID)  \(device)  \(TerminalText.printable(reason))  tried \(attempts)  \(TimeText.minute(died))"
    }

    fileprivate var json: JSONValue {
        [
            "apnsID": .string(apnsID), "device": .text(device), "reason": .string(reason),
            "attempts": .count(attempts), "enqueued": .seconds(enqueued), "refused": .seconds(died),
        ]
    }
}

// MARK: Receipts

extension ReceiptReport {
    /// What an operator reads; nothing where there were none.
    fileprivate var lines: [String] {
        let total = total
        guard total.shownCount + total.refusedCount > 0 else { return [] }
        var lines = [
            "receipts  from \(deviceCount.grouped) of \(registeredDeviceCount.grouped) devices, in 30 days; \(failingDeviceCount.grouped) had failures",
            "  shown   \(total.shownCount.grouped) of \(total.acceptedCount.grouped) that APNs took\(total.speedWords)"
                + " (not every message need have asked for a receipt)",
            "  failed  \(total.failures.isEmpty ? "0" : total.failures.words)",
        ]
        if !failingDevices.isEmpty { lines.append("  devices \(failingDevices.words)") }
        if total.refusedCount > 0 { lines.append("  not believed: \(total.refusals.words)") }
        return lines + hints.map { "hint: \($0)" }
    }

    fileprivate var jsonWithHints: JSONValue {
        .object(json.merging(["hints": .array(hints.map { .string($0) })]) { $1 })
    }

    /// What to do about what stands out in the last seven days.
    private var hints: [String] {
        guard let today = days.last?.start else { return [] }
        let isRecent = { (day: ReceiptDay) in today.seconds(since: day.start) < 7 * 86_400 }
        let recent = Self.sum(days.filter(isRecent))
        let before = Self.sum(days.filter { !isRecent($0) && today.seconds(since: $0.start) < 14 * 86_400 })
        let failures = recent.failures.mostFrequent.compactMap { code, count -> String? in
            let rises = count >= 10 && count > 2 * (before.failures[code] ?? 0) && before.shownCount > 0
            let isMuch = count * 100 >= recent.shownCount + recent.failedCount
            guard rises || isMuch else { return nil }
            let devices = failingDevices[code, default: 0]
            let whose = devices == 1 ? "of one device" : "of \(devices.grouped) devices"
            let hint = OpenError(rawValue: code)?.hint ?? "a reason of a later version of the app's module"
            return "\(code)\(rises ? " rises" : ""), \(whose): \(hint)"
        }
        let refusals = recent.refusals.mostFrequent.filter { $0.value * 100 >= max(1, recent.shownCount) }
        return failures + refusals.map { "receipts are refused, \($0.key): \(Self.hint(ofRefusal: $0.key))" }
    }

    /// Why receipts themselves are refused.
    private static func hint(ofRefusal code: String) -> String {
        switch ReceiptError(rawValue: code) {
        case .rejected: "they are forged, or another sender than `serve`'s asks for them"
        case .tooOld, .clock: "clocks of devices are wrong, or this machine's is"
        case .unknownVersion: "a later version of the app's module makes them: update the server"
        case .wrongSize, .malformed: "something else than the app's module posts to this address"
        case nil:
            "a single device sends more than 1,000 in a day: its key is misused, or the app counts one push many times"
        }
    }
}

extension ReceiptDay {
    fileprivate var speedWords: String {
        guard shownCount > 0 else { return "" }
        let parts = [Duration.seconds(1), .seconds(5)].map { limit in
            "\(100 * shownWithin[limit, default: 0] / shownCount) % within \(limit.components.seconds) s"
        }
        return "; \(parts.joined(separator: ", "))"
    }
}

extension OpenError {
    /// What an operator does about many of them.
    var hint: String {
        switch self {
        case .malformed:
            "pushes without an envelope reach the app: another server of yours, or a carrier, sends them"
        case .unknownRecipient:
            "it is sealed to keys that devices no longer have: `sealedpush doctor`, and let the app hand in its record"
        case .locked: "devices were restarted and not unlocked yet; nothing to do"
        case .keysUnavailable: "the app's key store fails: look at the keychain access group of its last version"
        case .unknownSender: "the app does not know the sender: publish a sender set, or wait for the app's update"
        case .anonymousNotAllowed: "somebody seals without a sender; nobody of yours should"
        case .rejected:
            "another sender, topic or key than the device expects, or alteration on the way: `sealedpush doctor`"
        case .malformedContent: "a sender seals what is no content: look at its version"
        case .topic: "content for another app is sealed to this one's keys: look at --topic"
        case .keyRetired: "a sender still seals to keys that were replaced: tell all servers the newest records"
        case .clock: "a server's clock is ahead"
        case .tooOld:
            "content is more than 30 days old when it arrives: look at the server's clock and `outbox status`"
        case .expired: "pushes come after their content's expiry: give content more time"
        case .replayed:
            "pushes come twice under other IDs: a server sends them without apns-id and apns-collapse-id, or somebody replays"
        case .ledgerUnavailable:
            "devices can't write to the shared container: disks are full, the app group is wrong, or a ledger is spoiled"
        case .outOfTime: "devices did not come to open in time: look at the stages before"
        }
    }
}
