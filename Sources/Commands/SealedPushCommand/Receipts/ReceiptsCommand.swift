internal import ArgumentParser
internal import CommandSupport
internal import PushCore
internal import PushHTTP
internal import PushKeyring
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// `sealedpush receipts`
struct ReceiptsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipts", abstract: "Count what devices have shown and what did not open, by reason and day.",
        usage: "sealedpush receipts [<options>]",
        discussion: """
            Devices post receipts to `sealedpush serve` for messages that ask for them: `send --receipts URL`. A device on which \
            nothing opens sends none, so compare the devices with those that are registered.

            Examples:
              sealedpush receipts
              sealedpush receipts --days 7 --json
              sealedpush receipts --from newsroom

            Exit status: 0, 64 usage, 65 input, 74 files, 75 busy, 77 keys.
            """)

    @Option(help: "The number of days, today included; at most 60.") var days = 30

    @Option(help: "Also list the registered devices that have sent this sender no receipt, or had failures.")
    var from: KeyName?

    @Flag(help: "Print one JSON object; with --from, one more for each device.") var json = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions
    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func validate() throws {
        guard (1...60).contains(days) else { throw ValidationError("--days is 1 to 60.") }
    }

    func run() async throws {
        try await Failure.reportingAsync {
            let key = try from.map { name in ReceiptKey(of: try keyring.keys("receipts").senderKey(named: name)) }
            let outbox = try await options.opened()
            let report = try await outbox.receipts(days: days)
            if json {
                try Output.json(report.jsonWithHints)
            } else {
                for line in report.lines(days) { try Output.line(line) }
            }
            if let key { try await listDevices(in: outbox, key) }
        }
    }

    private func listDevices(in outbox: Outbox, _ key: ReceiptKey) async throws {
        var last: DeviceName?
        while true {
            let page = try await outbox.devices(after: last, limit: 1_000)
            for device in page {
                guard let recipient = device.recipient else { continue }
                let told = try await outbox.receipts(of: key.id(of: recipient))
                guard told?.failedCount != 0 else { continue }
                json ? try Output.json(Self.json(device, told)) : try Output.line(Self.line(device, told))
            }
            guard page.count == 1_000 else { return }
            last = page.last?.name
        }
    }

    private static func line(_ device: RegisteredDevice, _ told: ReceiptDevice?) -> String {
        let name = TerminalText.printable(device.name.description)
        guard let told else { return "\(name)  no receipt" }
        return
            "\(name)  shown \(Progress.number(told.shownCount)), did not open \(Progress.number(told.failedCount)), last \(TimeText.minute(told.last))"
    }

    private static func json(_ device: RegisteredDevice, _ told: ReceiptDevice?) -> JSONValue {
        [
            "device": .string(device.name.description), "shown": .integer(Int64(told?.shownCount ?? 0)),
            "failed": .integer(Int64(told?.failedCount ?? 0)),
            "last": told.map { .integer($0.last.secondsSince1970) } ?? .null,
        ]
    }
}

extension ReceiptReport {
    /// What an operator reads.
    func lines(_ dayCount: Int) -> [String] {
        let total = total
        guard total.shownCount + total.refusedCount > 0 else {
            return ["No receipts in \(dayCount) days. Messages ask for them where they are sent with --receipts URL."]
        }
        var lines = [
            "devices   \(Progress.number(deviceCount)) of \(Progress.number(registeredDeviceCount)) registered; \(Progress.number(failingDeviceCount)) had failures",
            "shown     \(Progress.number(total.shownCount)) of \(Progress.number(total.acceptedCount)) that APNs took\(total.speedWords)"
                + " (not every message need have asked for a receipt)",
            "failed    \(total.failures.isEmpty ? "0" : total.failures.words)",
        ]
        if !failingDevices.isEmpty { lines.append("  devices \(failingDevices.words)") }
        if total.refusedCount > 0 { lines.append("refused   \(total.refusals.words)") }
        lines.append("")
        lines += days.suffix(Self.shownDayCount).map(\.line)
        let hints = hints
        if !hints.isEmpty { lines += [""] + hints }
        return lines
    }

    var jsonWithHints: JSONValue { .object(json.merging(["hints": .array(hints.map { .string($0) })]) { $1 }) }

    /// What to do about what stands out in the last seven days.
    var hints: [String] {
        guard let today = days.last?.start else { return [] }
        let isRecent = { (day: ReceiptDay) in today.seconds(since: day.start) < 7 * 86_400 }
        let recent = Self.sum(days.filter(isRecent))
        let before = Self.sum(days.filter { !isRecent($0) && today.seconds(since: $0.start) < 14 * 86_400 })
        var hints = recent.failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.compactMap { code, count in
            let rises = count >= 10 && count > 2 * (before.failures[code] ?? 0) && before.shownCount > 0
            let isMuch = count * 100 >= recent.shownCount + recent.failedCount
            guard rises || isMuch else { return nil as String? }
            let devices = failingDevices[code, default: 0]
            let whose = devices == 1 ? "of one device" : "of \(Progress.number(devices)) devices"
            return "hint: \(code)\(rises ? " rises" : ""), \(whose): \(ReasonWords.hint(code))"
        }
        for (code, count) in recent.refusals.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) })
        where count * 100 >= max(1, recent.shownCount) {
            hints.append("hint: receipts are refused, \(code): \(ReasonWords.refusalHint(code))")
        }
        return hints
    }

    private static let shownDayCount = 14
}

extension ReceiptDay {
    fileprivate var line: String {
        let failed = failures.isEmpty ? "" : "; failed: \(failures.words)"
        return "\(TimeText.day(start))  shown \(Progress.number(shownCount))\(failed)"
    }

    fileprivate var speedWords: String {
        guard shownCount > 0 else { return "" }
        let parts = [Duration.seconds(1), .seconds(5)].map { limit in
            "\(100 * shownWithin[limit, default: 0] / shownCount) % within \(limit.components.seconds) s"
        }
        return "; \(parts.joined(separator: ", "))"
    }
}
