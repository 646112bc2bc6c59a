internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushOutbox
internal import SealedPush
internal import _PushBase

/// `sealedpush outbox key`
struct OutboxKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Makes the key that vouches for an outbox's rows, or the half of it that couriers need.",
        discussion: """
            Whoever can write the database, and has not this key, can't have anything sent that was not enqueued, nor anything \
            sealed to a key that was not registered. Who registers and enqueues needs the key; hosts that only deliver need the \
            delivering one, which vouches for nothing that is sealed to. Keep a copy apart from the database's.

            Examples:
              sealedpush outbox key outbox.key
              sealedpush outbox key delivering.key --of outbox.key
            """)

    @Argument(help: "The file to make, for its owner alone; never overwritten.")
    var file: String

    @Option(help: "The key of which the delivering half is wanted.")
    var of: String?

    func run() throws {
        try Failure.reporting {
            if let of {
                let key = try OutboxOptions.key(of)
                guard key.isWhole else { throw Failure.input("\(of) holds a delivering key already") }
                try key.deliveringText { text throws in try Self.write(text, to: file) }
            } else {
                try OutboxKey.text { text throws in try Self.write(text, to: file) }
            }
            let holder = of == nil ? "who registers and enqueues" : "couriers"
            try Output.line("\(file): give it to \(holder) with --outbox-key.")
        }
    }

    private static func write(_ text: [UInt8], to file: String) throws {
        let url = URL(filePath: file)
        do throws(DurableFiles.Failure) {
            try DurableFiles.write(text, to: url, mode: 0o600)
            try DurableFiles.sync(folder: url.deletingLastPathComponent())
        } catch { throw Failure.file("\(file): \(error.message)") }
    }
}

/// `sealedpush outbox protect`
struct OutboxProtectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protect",
        abstract: "Vouches for all that is in an outbox, as it is, with a key; a new outbox needs none of this.",
        discussion: """
            Stop whoever enqueues and delivers first, and start them with --outbox-key. May be repeated.

            Example:
              sealedpush outbox protect --outbox outbox.sqlite --outbox-key outbox.key
            """)

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var options: OutboxOptions

    func validate() throws {
        guard options.outboxKey != nil else {
            throw ValidationError("--outbox-key is needed: `sealedpush outbox key outbox.key` makes one.")
        }
    }

    func run() async throws {
        try await Failure.reportingAsync {
            let outbox = try await options.opened()
            let status = try await outbox.status()
            try Prompt.confirm(
                "You vouch for \(Progress.number(status.deviceCount)) devices, \(Progress.number(status.waitingCount)) waiting pushes and all refused ones as they are now, whoever wrote them.",
                isConfirmed: yes)
            let (devices, pushes) = try await outbox.protect()
            if json {
                return try Output.json([
                    "devices": .integer(Int64(devices)), "pushes": .integer(Int64(pushes)),
                ])
            }
            try Output.line("Protected: \(Progress.number(devices)) devices, \(Progress.number(pushes)) pushes.")
        }
    }
}
