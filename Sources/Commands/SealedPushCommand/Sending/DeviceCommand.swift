internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// `sealedpush device`
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "The devices that a server sends to: their tokens, and what is sealed to.",
        discussion: """
            Example:
              sealedpush device enroll bob-phone --user bob --token 80fa... --keyring Keys --outbox outbox.sqlite
            """,
        subcommands: [DeviceEnrollCommand.self, DeviceListCommand.self, DeviceRemoveCommand.self])
}

/// `sealedpush device list`
struct DeviceListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the devices, and whether they can be sent to.",
        usage: "sealedpush device list [<options>]",
        discussion: """
            Tokens are shortened: they identify people's devices. --full shows all that `device enroll --list` takes, such as for \
            another outbox; a file that it is written to becomes its owner's alone.

            Examples:
              sealedpush device list --user bob
              sealedpush device list --full --json > devices.jsonl
              sealedpush device list --json | grep '"note":"no token'
            """)

    @Option(parsing: .unconditional, help: "This user's devices only.") var user: UserName?

    @Flag(help: "With --json: whole tokens, records, enrollment keys and what is proven.") var full = false

    @Flag(help: "Print one JSON object for each device.") var json = false

    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func validate() throws {
        guard !full || json else { throw ValidationError("--full goes with --json.") }
    }

    func run() async throws {
        try await Failure.reportingAsync {
            let outbox = try await options.opened()
            if full { try Self.closeOutput() }
            var isFirst = true
            if let user {
                let devices = try await outbox.devices(of: user)
                try show(devices, &isFirst)
            } else {
                var last: DeviceName?
                while true {
                    let page = try await outbox.devices(after: last, limit: 1_000)
                    try show(page, &isFirst)
                    guard page.count == 1_000 else { break }
                    last = page.last?.name
                }
            }
            for name in user == nil ? try await outbox.damagedDevices() : [] {
                Failure.report(
                    "warning: the registration of \(name) can't be read: remove it with `sealedpush device remove`, and let the device enroll again"
                )
            }
            if isFirst && !json {
                let whose = user.map { "of \($0) " } ?? ""
                try Output.line("There are no devices \(TerminalText.printable(whose))in \(options.outbox).")
            }
        }
    }

    /// Whole tokens go into nobody else's hands.
    private static func closeOutput() throws {
        var facts = stat()
        guard fstat(1, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return }
        guard fchmod(1, 0o600) == 0 else { throw Failure.file("the output can't be made its owner's alone") }
    }

    /// Page by page, so that a million devices take no memory.
    private func show(_ devices: [RegisteredDevice], _ isFirst: inout Bool) throws {
        guard !devices.isEmpty else { return }
        if json {
            for device in devices { try Output.json(full ? device.fullJSON : device.json) }
        } else {
            try Output.table(
                ["DEVICE", "USER", "TOPIC", "ENVIRONMENT", "TOKEN", "SEALED TO", "NOTE"],
                devices.map { device in
                    [
                        TerminalText.printable(device.name.description),
                        TerminalText.printable(device.user.description),
                        device.topic.description, device.address.carrier.shown, device.shownToken,
                        device.recipient?.keyID.description ?? "-", TerminalText.printable(device.note ?? ""),
                    ]
                })
        }
        isFirst = false
    }
}

/// `sealedpush device remove`
struct DeviceRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget a device and what waits for it.",
        usage: "sealedpush device remove [<options>] <name>",
        discussion: "Example:\n  sealedpush device remove bob-phone --outbox outbox.sqlite")

    @Argument(help: "The device's name.") var name: DeviceName

    @Flag(help: "Do not ask.") var yes = false

    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func run() async throws {
        try await Failure.reportingAsync {
            let outbox = try await options.opened()
            do {
                guard try await outbox.device(name) != nil else { throw OutboxError.unknownDevice }
            } catch OutboxError.forged, OutboxError.damaged {
                // What somebody else has written there is what is to go.
            }
            try Prompt.confirm(
                "\(TerminalText.printable(name.description)) is forgotten, with all that waits for it.",
                isConfirmed: yes)
            let count = try await outbox.remove(name)
            try Output.line(
                "Removed \(TerminalText.printable(name.description)), and what waited for it: \(Progress.number(count))."
            )
        }
    }
}

extension Carrier {
    /// Apple's environment, or another carrier's name.
    var shown: String { environment?.rawValue ?? description }
}

extension RegisteredDevice {
    /// What is sealed to, if anything is proven.
    var recipient: DevicePublicKey? {
        switch keys {
        case .unverified(let recipient): recipient
        case .enrolled(let enrolled): enrolled.record.recipients.first(where: enrolled.proven.contains)
        }
    }

    var shownToken: String { address.address?.logged ?? "-" }

    /// Why it can't be sent to, or what to know.
    var note: String? {
        switch address {
        case .disabled(_, _, let reason): return "APNs refuses the token: \(reason)"
        case .none(_, let reason): return reason.map { "no token: \($0)" } ?? "no token"
        case .active: break
        }
        switch keys {
        case .unverified: return "unverified"
        case .enrolled(let enrolled):
            do {
                _ = try enrolled.recipient(at: .now())
                return nil
            } catch { return "\(error)" }
        }
    }

    var json: JSONValue { .object(members) }

    /// What ``EnrollmentList`` reads.
    var fullJSON: JSONValue {
        var members = members
        members["token"] = address.address.map { .string($0.hexadecimal) } ?? .null
        if case .active(_, let registered) = address { members["registered"] = .integer(registered.secondsSince1970) }
        switch keys {
        case .unverified(let recipient): members["key"] = .string(recipient.description)
        case .enrolled(let enrolled):
            members["enrollment"] = .string(enrolled.enrollment.description)
            members["record"] = .string(enrolled.record.description)
            members["proven"] = .array(enrolled.proven.map(\.description).sorted().map { .string($0) })
        }
        return .object(members)
    }

    private var members: [String: JSONValue] {
        [
            "device": .string(name.description), "user": .string(user.description),
            "topic": .string(topic.description), "environment": .string(address.carrier.shown),
            "token": shownToken == "-" ? .null : .string(shownToken),
            "keyID": recipient.map { .string($0.keyID.description) } ?? .null,
            "note": note.map { .string($0) } ?? .null,
        ]
    }
}
