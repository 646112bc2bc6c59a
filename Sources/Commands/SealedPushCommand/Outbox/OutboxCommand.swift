internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import PushOutbox
internal import PushSender
internal import SealedPush

struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "Show and manage waiting pushes, refused pushes, and receipts.",
        discussion: "Example:\n  sealedpush outbox status --outbox outbox.sqlite",
        subcommands: [OutboxStatusCommand.self, OutboxRetryCommand.self, OutboxPurgeCommand.self])
}

struct OutboxStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Count devices, waiting pushes, refused pushes, and the last 30 days' outcomes.",
        usage: "sealedpush outbox status [<options>]",
        discussion: """
            Pushes are counted by the sender key that sealed them; `outbox purge --sender` discards those of a stolen key. \
            The senders' names and revocations come from the keyring, if it exists.

            Receipts count the messages that devices showed or couldn't open. Devices post them to `serve` for messages \
            that ask for them (`send --receipts URL`). A device that can't open any message sends no receipts.

            Examples:
              sealedpush outbox status --json
              sealedpush outbox status --from newsroom --keyring Keys
            """)

    @Flag(help: "Also list the refused pushes, with public IDs only.") var refused = false

    @Option(help: .value("sender", "List devices without receipts, or with failures."))
    var from: KeyName?

    @Flag(help: "Print one JSON object, and one for each item listed.") var json = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions
    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func run() async throws {
        let sender = try from.map { try keyring.keys("outbox status").senderKey(named: $0) }
        let outbox = try await options.opened(toShow: true)
        let status = try await outbox.status()
        let receipts = try await outbox.receipts()
        let names = try senders()
        let unusable = try await outbox.readableUnusableDevices()
        if json {
            var members = status.json.merging(["senders": status.senders(names), "receipts": receipts.jsonWithHints]) {
                $1
            }
            func listed(_ reason: UnusableDevice.Reason) -> JSONValue {
                unusable.map { rows in .array(rows.filter { $0.reason == reason }.map(\.json)) } ?? .null
            }
            members["damaged"] = listed(.damaged)
            // Null without the outbox's key, which the search for forged devices needs.
            members["forged"] = options.outboxKey == nil ? .null : listed(.forged)
            try Output.json(.object(members))
        } else {
            for line in status.lines(names) + Self.lines(unusable) + receipts.lines { try Output.line(line) }
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
                guard let recipient = device.keys.recipient else { continue }
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
            "\(name)  shown \(told.shownCount.grouped), failed to open \(told.failedCount.grouped), last \(TimeText.minute(told.last))"
    }

    private static func json(_ device: RegisteredDevice, _ told: ReceiptDevice?) -> JSONValue {
        [
            "device": .text(device.name), "shown": .count(told?.shownCount ?? 0),
            "failed": .count(told?.failedCount ?? 0), "last": .seconds(told?.last),
        ]
    }

    private static func lines(_ unusable: [UnusableDevice]?) -> [String] {
        guard let unusable else { return ["unusable  not checked: this login may not read the devices' keys"] }
        guard !unusable.isEmpty else { return [] }
        return ["unusable  \(unusable.count.grouped) of the devices"] + unusable.map { "  \($0.warning)" }
    }

    /// Returns the senders in the keyring's folder, for display only. Doesn't ask for a secret, so the result is unverified.
    private func senders() throws -> [String: KnownSender] {
        guard try InputFile.exists(keyring.keyring) else { return [:] }
        let keys = Keyring(folder: URL(filePath: keyring.keyring), expecting: .ofUser(), command: "outbox status")
        return Dictionary(
            try keys.entries().keys.filter { $0.kind == .sender }.flatMap { entry in
                entry.keys.map { ($0.key.description, KnownSender(name: entry.name, state: $0.life.state)) }
            }, uniquingKeysWith: { first, _ in first })
    }
}

/// The name and state of a sender's key in a keyring.
private struct KnownSender {
    let name: KeyName
    let state: KeyLife.State

    /// `newsroom, revoked`
    var words: String { "\(name)" + (state == .active ? "" : ", \(state.rawValue)") }
}

struct OutboxRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Requeue refused pushes, byte for byte, or make deferred ones due now.",
        usage: "sealedpush outbox retry [<options>]",
        discussion: """
            Use this once the cause is fixed. Tokens that were refused for the same reason are enabled again.

            Examples:
              sealedpush outbox retry --reason BadDeviceToken
              sealedpush outbox retry --deferred
            """)

    @Option(help: "Only pushes that APNs refused for this reason.") var reason: String?

    @Flag(help: "Make deferred pushes due now; leave refused ones.") var deferred = false

    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func validate() throws {
        guard !deferred || reason == nil else { throw ValidationError("Use either --reason or --deferred.") }
    }

    func run() async throws {
        let outbox = try await options.opened()
        if deferred {
            let count = try await outbox.retryNow()
            return try Output.line(
                "Deferred pushes now due: \(count.grouped). `sealedpush work` sends waiting pushes.")
        }
        let count = try await outbox.retry(reason: reason)
        try Output.line("Waiting again: \(count.grouped). `sealedpush work` sends waiting pushes.")
    }
}

struct OutboxPurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Discard refused pushes, all pushes, or those of one sender key.",
        usage: "sealedpush outbox purge [<options>]",
        discussion: """
            Expired pushes need no command: `work` and `send` discard them once APNs has accepted a push, which shows that the \
            clock is right. Until then, they're kept as refused (`expired`), and discarded only with `--reason expired` or \
            `--everything`.

            Examples:
              sealedpush outbox purge --refused --reason BadDeviceToken
              sealedpush outbox purge --sender pushsender1... --yes
              sealedpush outbox purge --everything --yes
            """)

    @Flag(help: "Pushes that APNs refused.") var refused = false

    @Option(help: "With --refused: only for this reason.") var reason: String?

    @Flag(help: "Refused and waiting pushes, except those in transit.") var everything = false

    @Option(help: "Only pushes sealed by this key: pushsender1…, as `outbox status` shows it, or anonymous.")
    var sender: SealedBy?

    @Flag(help: "Don't ask for confirmation.") var yes = false

    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func validate() throws {
        guard [refused, everything, sender != nil].filter({ $0 }).count == 1 else {
            throw ValidationError(
                "Use one of --refused, --everything, and --sender. Expired pushes are discarded by `work` and `send`.")
        }
        guard reason == nil || refused else { throw ValidationError("--reason needs --refused.") }
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
                "\(waiting) waiting and \(refused) refused pushes sealed by this key will never be sent.",
                isConfirmed: yes)
            scope = .sealed(by: sender)
        } else {
            scope = .deadLetters(reason: reason)
        }
        let count = try await outbox.purge(scope)
        try Output.line("Discarded: \(count.grouped).")
        if count > 0 {
            CommandFailure.report(
                "hint: to send any of these messages again, use a new --id; the old ones count as enqueued")
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
                "  devices: \(queues.due.grouped) due, \(queues.leased.grouped) in transit, \(queues.deferred.grouped) deferred; \(when)",
                "  devices by service: \(Dictionary(waitingDevices.map { ($0.key.shown, $0.value) }, uniquingKeysWith: +).words)",
            ]
            if leasedByHost.count > 1 { lines.append("  in transit by host: \(leasedByHost.words)") }
            let old = waitingByAge.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map {
                "\($0.value.grouped) older than \(TimeText.span($0.key.components.seconds))"
            }
            if !old.isEmpty { lines.append("  \(old.joined(separator: ", "))") }
            lines += Self.lines(waitingBySender, names)
        }
        lines.append("refused   \(deadLetters.isEmpty ? "0" : deadLetters.words)")
        lines += Self.lines(deadLettersBySender, names)
        lines.append("30 days   \(outcomes.isEmpty ? "none sent" : outcomes.words)")
        lines.append("size      \(fileByteCount.grouped) bytes")
        return lines
    }

    /// Returns a line per sender key, with the key in full, as `outbox purge --sender` accepts it.
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
    /// The sender key's ID; nil for anonymous pushes and for unknown senders.
    fileprivate var keyID: KeyID? {
        guard case .sender(let sender) = self else { return nil }
        return sender.keyID
    }
}

extension DeadLetter {
    fileprivate var line: String {
        let device = device.map { TerminalText.printable($0) } ?? "an unknown device"
        return "\(apnsID)  \(device)  \(TerminalText.printable(reason))  tried \(attempts)  \(TimeText.minute(buried))"
    }

    fileprivate var json: JSONValue {
        [
            "apnsID": .string(apnsID), "device": .text(device), "reason": .string(reason),
            "attempts": .count(attempts), "enqueued": .seconds(enqueued), "refused": .seconds(buried),
        ]
    }
}

// MARK: Receipts

extension ReceiptReport {
    /// The report's lines for the operator; empty if there were no receipts.
    fileprivate var lines: [String] {
        let total = total
        guard total.shownCount + total.refusedCount > 0 else { return [] }
        var lines = [
            "receipts  from \(deviceCount.grouped) of \(registeredDeviceCount.grouped) devices, in 30 days; \(failingDeviceCount.grouped) had failures",
            "  shown   \(total.shownCount.grouped) of \(total.acceptedCount.grouped) that APNs accepted\(total.speedWords)"
                + " (some messages may not have asked for a receipt)",
            "  failed  \(total.failures.isEmpty ? "0" : total.failures.words)",
        ]
        if !failingDevices.isEmpty { lines.append("  devices \(failingDevices.words)") }
        if total.refusedCount > 0 { lines.append("  receipts refused: \(total.refusals.words)") }
        return lines + hints.map { "hint: \($0)" }
    }

    fileprivate var jsonWithHints: JSONValue {
        .object(json.merging(["hints": .array(hints.map { .string($0) })]) { $1 })
    }

    /// Advice about failures that stand out in the last seven days.
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
            let whose = devices == 1 ? "on one device" : "on \(devices.grouped) devices"
            let hint = OpenError(rawValue: code)?.words.hint ?? "a code from a later version of the app's module"
            return "\(code)\(rises ? " is rising" : ""), \(whose): \(hint)"
        }
        let refusals = recent.refusals.mostFrequent.filter { $0.value * 100 >= max(1, recent.shownCount) }
        return failures + refusals.map { "receipts are refused, \($0.key): \(Self.hint(ofRefusal: $0.key))" }
    }

    /// Returns the likely cause of refused receipts.
    private static func hint(ofRefusal code: String) -> String {
        switch ReceiptError(rawValue: code) {
        case .rejected: "they are forged, or requested by a sender other than the one that `serve` uses"
        case .tooOld, .clock: "the devices' clocks are wrong, or this machine's is"
        case .unknownVersion: "a later version of the app's module creates them; update the server"
        case .wrongSize, .malformed: "something other than the app's module posts to this address"
        case nil:
            "a device sends more than 1,000 in a day; its key is misused, or the app counts one push many times"
        }
    }
}

extension ReceiptDay {
    fileprivate var speedWords: String {
        guard shownCount > 0 else { return "" }
        let parts = [Duration.seconds(1), .seconds(5)].map { limit in
            "\(100 * shownWithin[limit, default: 0] / shownCount)% within \(limit.components.seconds) s"
        }
        return "; \(parts.joined(separator: ", "))"
    }
}
