public import ArgumentParser
public import CommandSupport
internal import Foundation
internal import PushCore
public import PushOutbox
public import PushSender

#if Postgres
internal import PushPostgres
#endif

/// The options that select an outbox and its key.
struct OutboxOptions: ParsableArguments {
    @Option(help: .value("place", "A file or postgres://…")) var outbox = "outbox.sqlite"

    @Option(help: .value("file", "The outbox's key, if it has one.")) var outboxKey: String?

    func validate() throws {
        guard isInPostgres || OutboxPlace.isPath(outbox)
        else { throw ValidationError("--outbox must be \(OutboxPlace.rule), without quotes or spaces around it.") }
    }

    /// Opens the outbox, which must exist.
    ///
    /// - Parameter isShown: whether the outbox is only read, which works even if it isn't writable.
    func opened(toShow isShown: Bool = false) async throws -> Outbox {
        guard try isInPostgres || isThere() else {
            let what =
                try InputFile.exists(outbox)
                ? "\(outbox) is empty, so it is not an outbox" : "there is no outbox at \(outbox)"
            throw CommandFailure.file(
                "\(what); specify its file with --outbox, or create one with `sealedpush device enroll`")
        }
        return try await outbox(key: try outboxKey.map(Self.key), toShow: isShown)
    }

    /// Opens the outbox, or creates it if it doesn't exist. In that case, also creates the key's file if needed.
    func openedOrMade() async throws -> Outbox {
        let isNew = try !isInPostgres && !isThere()
        if let file = outboxKey.map(Self.keyFile), isInPostgres || isNew, try !file.exists() {
            // If an existing outbox is marked with a key, that key must be in another file.
            if isInPostgres { try await outbox(key: nil).requireWritable() }
            try Self.createKey(file)
        }
        let opened = try await outbox(key: try outboxKey.map(Self.key))
        if isNew {
            CommandFailure.report("made \(outbox), a new outbox; if you expected an existing one, check --outbox")
        }
        return opened
    }

    /// Whether the file exists and isn't empty. An empty file isn't an outbox yet; opening it would make it one.
    private func isThere() throws -> Bool {
        guard try InputFile.exists(outbox) else { return false }
        let facts = try? FileManager.default.attributesOfItem(atPath: outbox)
        return facts.map { $0[.size] as? Int != 0 } ?? true
    }

    private func outbox(key: OutboxKey?, toShow isShown: Bool = false) async throws -> Outbox {
        do throws(OutboxError) {
            guard isInPostgres else { return try file(key: key, toShow: isShown) }
            #if Postgres
            let patience: Duration = isShown ? .seconds(10) : .seconds(60)
            return try await Outbox(postgres: outbox, clock: nil, patience: patience, key: key) { reason in
                CommandFailure.report("waiting up to \(patience.components.seconds) s: \(reason)")
            }
            #else
            throw OutboxError.connection("this program was built without PostgreSQL (the `Postgres` trait)")
            #endif
        } catch { throw CommandFailure(error).saying(before: "\(shown): ") }
    }

    private func file(key: OutboxKey?, toShow isShown: Bool) throws(OutboxError) -> Outbox {
        let place = outbox
        let alarm = Task {
            try await Task.sleep(for: .seconds(2))
            CommandFailure.report("waiting up to 30 s, because another process is writing to \(place)")
        }
        defer { alarm.cancel() }
        do throws(OutboxError) { return try Outbox(at: place, key: key) } catch {
            guard isShown, case .readOnly = error else { throw error }
            let outbox = try Outbox(at: place, clock: .system, isReadOnly: true, key: key)
            CommandFailure.report("\(place) can't be written to, so it was opened read-only")
            return outbox
        }
    }

    /// The outbox's name for messages. Never a database's address, which may contain a password even if it's mistyped.
    var shown: String { isInPostgres ? "--outbox" : outbox }

    private var isInPostgres: Bool { outbox.hasPrefix("postgres://") || outbox.hasPrefix("postgresql://") }

    private static func keyFile(_ path: String) -> SecretFile { SecretFile(path, from: "--outbox-key") }

    /// Creates the file with a new key for a new outbox.
    static func createKey(_ file: SecretFile) throws {
        try OutboxKey().withSecretText { text throws in
            var text = Array(text)
            defer { wipe(&text) }
            try file.create(text)
        }
        CommandFailure.report(
            "created \(file); every program that registers, enqueues, or delivers needs it, so keep a copy")
    }

    static func key(_ path: String) throws -> OutboxKey {
        let file = keyFile(path)
        var bytes = try file.read(limit: 4_096)
        defer { wipe(&bytes) }
        do throws(OutboxError) { return try OutboxKey(parsing: bytes) } catch {
            throw CommandFailure(error).saying(before: "\(file): ")
        }
    }
}

extension DeviceName: ParsedArgument {}
extension UserName: ParsedArgument {}
extension SealedBy: ParsedArgument {}

extension IdempotencyKey: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
