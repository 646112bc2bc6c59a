internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushHTTP
internal import PushOutbox
internal import PushSender
internal import SealedPush

struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "The devices that a server sends to: their tokens, and what is sealed to.",
        discussion: """
            Example:
              sealedpush device enroll bob-phone --user bob --token 80fa... --keyring Keys --outbox outbox.sqlite
            """,
        subcommands: [DeviceEnrollCommand.self, DeviceListCommand.self, DeviceRemoveCommand.self])
}

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

    func validate() throws { guard !full || json else { throw ValidationError("--full goes with --json.") } }

    func run() async throws {
        let outbox = try await options.opened(toShow: true)
        if full { try Self.closeOutput() }
        var isFirst = true
        if let user {
            try show(try await outbox.devices(of: user), &isFirst)
        } else {
            try await outbox.forEachPage { page in try show(page, &isFirst) }
        }
        for name in user == nil ? try await outbox.damagedDevices() : [] {
            Failure.report(
                "warning: the registration of \(name) can't be read: remove it with `sealedpush device remove`, and let the device enroll again"
            )
        }
        if isFirst && !json {
            let whose = user.map { " for \(TerminalText.printable($0))" } ?? ""
            try Output.line("\(options.shown) has no devices\(whose).")
        }
    }

    /// Whole tokens go into nobody else's hands.
    private static func closeOutput() throws {
        var facts = stat()
        guard fstat(1, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return }
        guard fchmod(1, 0o600) == 0 else { throw Failure.file("the output can't be made its owner's alone") }
    }

    private func show(_ devices: [RegisteredDevice], _ isFirst: inout Bool) throws {
        guard !devices.isEmpty else { return }
        if json {
            for device in devices { try Output.json(full ? device.fullJSON : device.json) }
        } else {
            try Output.table(
                ["DEVICE", "USER", "TOPIC", "ENVIRONMENT", "TOKEN", "SEALED TO", "NOTE"],
                devices.map { device in
                    [
                        TerminalText.printable(device.name), TerminalText.printable(device.user),
                        device.topic.description, device.address.carrier.shown, device.shownToken ?? "-",
                        device.recipient?.keyID.description ?? "-", TerminalText.printable(device.note ?? ""),
                    ]
                })
        }
        isFirst = false
    }
}

struct DeviceRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget a device and what waits for it.",
        usage: "sealedpush device remove [<options>] <name>",
        discussion: "Example:\n  sealedpush device remove bob-phone --outbox outbox.sqlite")

    @Argument(help: "The device's name.") var name: DeviceName

    @Flag(help: "Do not ask.") var yes = false

    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func run() async throws {
        let outbox = try await options.opened()
        do {
            guard try await outbox.device(name) != nil else { throw OutboxError.unknownDevice }
        } catch OutboxError.forged, OutboxError.damaged {
            // What somebody else has written there is what is to go.
        }
        try Prompt.confirm(
            "\(TerminalText.printable(name)) is forgotten, with all that waits for it.", isConfirmed: yes)
        let count = try await outbox.remove(name)
        try Output.line("Removed \(TerminalText.printable(name)), and what waited for it: \(count.grouped).")
    }
}

extension Outbox {
    /// All devices, page by page, so that a million take no memory.
    func forEachPage(_ body: ([RegisteredDevice]) async throws -> Void) async throws {
        var last: DeviceName?
        while true {
            let page = try await devices(after: last, limit: 1_000)
            try await body(page)
            guard page.count == 1_000 else { return }
            last = page.last?.name
        }
    }
}

extension RegisteredDevice {
    var shownToken: String? { address.address?.logged }

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
        members["token"] = .text(address.address?.hexadecimal)
        if case .active(_, let registered) = address { members["registered"] = .seconds(registered) }
        switch keys {
        case .unverified(let recipient): members["key"] = .text(recipient)
        case .enrolled(let enrolled):
            members["enrollment"] = .text(enrolled.enrollment)
            members["record"] = .text(enrolled.record)
            members["proven"] = .array(enrolled.proven.map(\.description).sorted().map { .string($0) })
        }
        return .object(members)
    }

    private var members: [String: JSONValue] {
        [
            "device": .text(name), "user": .text(user), "topic": .text(topic),
            "environment": .string(address.carrier.shown), "token": .text(shownToken),
            "keyID": .text(recipient?.keyID), "note": .text(note),
        ]
    }
}
