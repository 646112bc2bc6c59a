internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushOutbox
internal import SealedPush
internal import _PushBase

#if Postgres
    internal import PushPostgres
#endif

/// `sealedpush outbox move`
struct OutboxMoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Moves an outbox from a file into PostgreSQL, and compares every row.",
        discussion: """
            Stop first whoever enqueues into the file, delivers from it or registers devices: from the beginning of the move the \
            file can't be used, and before its end the new outbox can't. Where it is interrupted, run it again: it goes on. A key \
            of the outbox stays the same.

            Example:
              sealedpush outbox move outbox.sqlite --outbox postgres://push@db.example.com/push
            """)

    @Argument(help: "The file.")
    var file: String

    @Option(help: "Where to: postgres://USER@HOST/DATABASE, as the schema's owner; an empty outbox, or none yet.")
    var outbox: String

    @Flag(help: "Give it up: the file can be used again, and the other outbox is emptied.")
    var cancel = false

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard OutboxOptions.isInPostgres(outbox) else {
            throw ValidationError("--outbox is where to, such as postgres://push@db.example.com/push.")
        }
    }

    func run() async throws {
        try await Failure.reportingAsync {
            guard FileManager.default.fileExists(atPath: file) else {
                throw Failure.file("there is no outbox at \(file)")
            }
            try Prompt.confirm(
                cancel
                    ? "What was copied to \(outbox) is thrown away." : "From now on nobody can use \(file).",
                isConfirmed: yes)
            #if Postgres
                try await move()
            #else
                throw Failure.outbox(.connection("this program was built without PostgreSQL (the trait Postgres)"))
            #endif
        }
    }

    #if Postgres
        private func move() async throws {
            let progress = SharedProgress()
            defer { progress.end() }
            let move = try await OutboxMove(from: file, toPostgres: outbox)
            if cancel {
                guard try await move.cancel() else {
                    throw Failure.input("\(file) was moved as a whole: go on with \(outbox)")
                }
                return try json
                    ? Output.json(["isCancelled": .bool(true)]) : Output.line("\(file) can be used again.")
            }
            let counts = try await move.run { table, count in progress.show("\(table): \(Progress.number(count))") }
            progress.end()
            guard json || !counts.isEmpty else { return try Output.line("\(file) was moved already, as a whole.") }
            let rows = Dictionary(uniqueKeysWithValues: counts.map { ($0.table, $0.rowCount) })
            let facts = [
                ("devices", "devices"), ("waiting", "entries"), ("refused", "dead_letters"), ("keys", "requests"),
            ].map { ($0, rows[$1, default: 0]) }
            if json {
                return try Output.json(
                    .object(Dictionary(uniqueKeysWithValues: facts.map { ($0, .integer(Int64($1))) })))
            }
            try Output.line(
                "Moved and compared: "
                    + facts.map { "\(Progress.number($1)) \($0)" }.joined(separator: ", ") + ".")
            try Output.line("Start whoever uses it with --outbox \(outbox), and delete \(file).")
        }
    #endif
}
