public import ArgumentParser
public import CommandSupport
internal import Foundation
internal import PushCore
public import PushOutbox
public import PushSender

#if Postgres
    internal import PushPostgres
#endif

/// `--outbox` and its key, and names in it.
struct OutboxOptions: ParsableArguments {
    @Option(help: .value("place", "A file, or postgres://…")) var outbox = "outbox.sqlite"

    @Option(help: .value("file", "The outbox's key, if it has one.")) var outboxKey: String?

    func validate() throws {
        guard isInPostgres || OutboxPlace.isPath(outbox)
        else { throw ValidationError("--outbox takes \(OutboxPlace.rule), and nothing around it.") }
    }

    /// The outbox, which must be there.
    ///
    /// - Parameter isShown: whether it is only looked at, which also works where it can't be written.
    func opened(toShow isShown: Bool = false) async throws -> Outbox {
        guard isInPostgres || isThere else {
            let what =
                FileManager.default.fileExists(atPath: outbox)
                ? "\(outbox) is empty, and no outbox" : "there is no outbox at \(outbox)"
            throw Failure.file("\(what): name its file with --outbox; `sealedpush device enroll` makes one")
        }
        return try await outbox(key: try outboxKey.map(Self.key), toShow: isShown)
    }

    /// The same for a command that makes one where there is none, and then its key's file as well.
    func openedOrMade() async throws -> Outbox {
        if let outboxKey, outboxKey != "-", isInPostgres || !isThere,
            !FileManager.default.fileExists(atPath: outboxKey)
        {
            // One that is marked has its key elsewhere.
            if isInPostgres { try await outbox(key: nil).requireWritable() }
            try OutboxKey().withSecretText { text throws in
                var text = Array(text)
                defer { wipe(&text) }
                try Secrets.makeFile(outboxKey, text)
            }
            Failure.report("made \(outboxKey): give it to all who register, enqueue or deliver, and keep a copy of it")
        }
        return try await outbox(key: try outboxKey.map(Self.key))
    }

    /// An empty file is no outbox yet, and would become one.
    private var isThere: Bool {
        let facts = try? FileManager.default.attributesOfItem(atPath: outbox)
        return facts.map { $0[.size] as? Int != 0 } ?? false
    }

    private func outbox(key: OutboxKey?, toShow isShown: Bool = false) async throws -> Outbox {
        do throws(OutboxError) {
            guard isInPostgres else { return try file(key: key, toShow: isShown) }
            #if Postgres
                let patience: Duration = isShown ? .seconds(10) : .seconds(60)
                return try await Outbox(postgres: outbox, clock: nil, patience: patience, key: key) { reason in
                    Failure.report("waiting up to \(patience.components.seconds) s: \(reason)")
                }
            #else
                throw OutboxError.connection("this program was built without PostgreSQL (the trait Postgres)")
            #endif
        } catch { throw Failure(error).saying(before: "\(shown): ") }
    }

    private func file(key: OutboxKey?, toShow isShown: Bool) throws(OutboxError) -> Outbox {
        let place = outbox
        let alarm = Task {
            try await Task.sleep(for: .seconds(2))
            Failure.report("waiting up to 30 s: another process is writing to \(place)")
        }
        defer { alarm.cancel() }
        do throws(OutboxError) { return try Outbox(at: place, key: key) } catch {
            guard isShown, error == .readOnly else { throw error }
            let outbox = try Outbox(at: place, clock: .system, isReadOnly: true, key: key)
            Failure.report("\(place) can't be written to, and is only looked at")
            return outbox
        }
    }

    /// Never prints a database's address: it may contain a password, even if it is mistyped.
    var shown: String { isInPostgres ? "--outbox" : outbox }

    private var isInPostgres: Bool { outbox.hasPrefix("postgres://") || outbox.hasPrefix("postgresql://") }

    static func key(_ file: String) throws -> OutboxKey {
        var bytes = try SecretFile.read(file, limit: 4_096)
        defer { wipe(&bytes) }
        do throws(OutboxError) { return try OutboxKey(parsing: bytes) } catch {
            throw Failure(error).saying(before: "\(file): ")
        }
    }
}

extension DeviceName: ParsedArgument {}
extension UserName: ParsedArgument {}
extension SealedBy: ParsedArgument {}

extension IdempotencyKey: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
