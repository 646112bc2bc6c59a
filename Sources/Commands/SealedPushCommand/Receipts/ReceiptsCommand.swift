internal import ArgumentParser
internal import CommandSupport
internal import PushCore
internal import PushKeyring
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// `sealedpush receipts`
struct ReceiptsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipts",
        abstract: "Count what devices have shown and what did not open, by reason and day.",
        discussion: """
            Devices post receipts to `sealedpush serve` for messages that ask for them: `send --receipts URL`. A device on which \
            nothing opens sends none, so compare the devices with those that are registered.

            Examples:
              sealedpush receipts
              sealedpush receipts --days 7 --json
              sealedpush receipts --devices --from newsroom

            Exit status: 0, 64 usage, 65 input, 74 files, 75 busy, 77 keys.
            """)

    @Option(help: "The number of days, today included; at most 60.")
    var days = 30

    @Flag(help: "List the registered devices that have sent no receipt, or had failures.")
    var devices = false

    @Option(help: "With --devices: the sender, a name in the keyring.")
    var from: KeyName?

    @Flag(help: "Print one JSON object; with --devices, one more for each device.")
    var json = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions
    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func validate() throws {
        guard (1...60).contains(days) else { throw ValidationError("--days is 1 to 60.") }
        guard devices == (from != nil) else { throw ValidationError("--devices and --from go together.") }
    }

    func run() async throws {
        try await Failure.reportingAsync {
            let key = try from.map { name in
                ReceiptKey(of: try keyring.keys("receipts").senderKey(named: name))
            }
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
