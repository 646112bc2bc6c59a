internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushOutbox
internal import PushSender
internal import SealedPush

struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Manage the devices that a server sends to: their tokens and keys.",
        discussion: """
            Example:
              sealedpush device enroll bob-phone --user bob --token 80fa... \\
                --keyring Keys --outbox outbox.sqlite
            """,
        subcommands: [DeviceEnrollCommand.self, DeviceListCommand.self, DeviceRemoveCommand.self])
}

struct DeviceListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the devices, and show whether each can be reached.",
        usage: "sealedpush device list [<options>]",
        discussion: """
            Tokens are shortened, because they identify people's devices. --full shows everything that `device enroll --list` \
            needs, for example to move to another outbox. If the output is a file, it becomes readable only by its owner.

            Examples:
              sealedpush device list --user bob
              sealedpush device list --full --json > devices.jsonl
              sealedpush device list --json | grep '"note":"no token'
            """)

    @Option(parsing: .unconditional, help: "Only this user's devices.") var user: UserName?

    @Flag(help: "Full tokens, records, enrollment and proven keys; needs --json.") var full = false

    @Flag(help: "Print one JSON object for each device.") var json = false

    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func validate() throws { guard !full || json else { throw ValidationError("--full needs --json.") } }

    func run() async throws {
        let outbox = try await options.opened(toShow: true)
        if full { try Self.closeOutput() }
        var isFirst = true
        let unusable: [UnusableDevice]
        if let user {
            let listing = try await outbox.listing(of: user)
            try show(listing.devices, &isFirst)
            unusable = listing.unusable
        } else {
            try await outbox.forEachPage { page in try show(page, &isFirst) }
            unusable = try await outbox.unusableDevices()
        }
        for device in unusable { CommandFailure.report("warning: \(device.warning)") }
        if isFirst && !json {
            let whose = user.map { " for \(TerminalText.printable($0))" } ?? ""
            try Output.line("\(options.shown) has no devices\(whose).")
        }
    }

    /// If standard output is a file, makes it readable only by its owner, because it contains full tokens.
    private static func closeOutput() throws {
        var facts = stat()
        guard fstat(1, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return }
        guard fchmod(1, 0o600) == 0 else { throw CommandFailure.file("the output file's mode can't be changed to 600") }
    }

    private func show(_ devices: [RegisteredDevice], _ isFirst: inout Bool) throws {
        guard !devices.isEmpty else { return }
        if json {
            for device in devices { try Output.json(full ? device.fullJSON : device.shortJSON) }
        } else {
            try Output.table(
                ["DEVICE", "USER", "TOPIC", "ENVIRONMENT", "TOKEN", "SEALED TO", "NOTE"],
                devices.map { device in
                    [
                        TerminalText.printable(device.name), TerminalText.printable(device.user),
                        device.topic.description, device.address.carrier.shown, device.shownToken ?? "-",
                        device.keys.recipient?.keyID.description ?? "-", TerminalText.printable(device.note ?? ""),
                    ]
                })
        }
        isFirst = false
    }
}

struct DeviceRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a device and its waiting pushes.",
        usage: "sealedpush device remove [<options>] [<name>]",
        discussion: """
            Examples:
              sealedpush device remove bob-phone --outbox outbox.sqlite
              sealedpush device remove --row 12
            """)

    @Argument(help: "The device's name.") var name: DeviceName?

    @Option(help: .value("number", "The row of a device that `device list` warns of.")) var row: Int64?

    @Flag(help: "Don't ask for confirmation.") var yes = false

    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func validate() throws {
        guard (name == nil) != (row == nil) else { throw ValidationError("Use either a name or --row.") }
    }

    func run() async throws {
        let outbox = try await options.opened()
        let shown: String
        if let row {
            guard let device = try await outbox.unusableDevice(row: row) else {
                throw CommandFailure.input(
                    "`sealedpush device list` doesn't warn of row \(row); remove a device by its name")
            }
            shown = "row \(row), \"\(device.name)\""
        } else {
            shown = try await found(named(), in: outbox)
        }
        try Prompt.confirm("\(shown) and its waiting pushes will be removed.", isConfirmed: yes)
        let count: Int
        if let row { count = try await outbox.remove(row: row) } else { count = try await outbox.remove(named()) }
        try Output.line("Removed \(shown). Discarded pushes: \(count.grouped).")
    }

    private func named() throws -> DeviceName {
        guard let name else { throw ValidationError("Use either a name or --row.") }
        return name
    }

    private func found(_ name: DeviceName, in outbox: Outbox) async throws -> String {
        do {
            guard try await outbox.device(name) != nil else { throw OutboxError.unknownDevice }
        } catch OutboxError.forged, OutboxError.damagedDevice {
            // A tampered registration can be removed, too.
        }
        return TerminalText.printable(name)
    }
}

extension Outbox {
    /// Passes all devices to `body`, page by page, so that memory stays constant even with a million devices.
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

    /// The reason the device can't be sent to, or another note about the device; nil if there is none.
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

    var shortJSON: JSONValue { .object(members) }

    /// The device in the form that ``EnrollmentList`` reads.
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
            "keyID": .text(keys.recipient?.keyID), "note": .text(note),
        ]
    }
}
