public import ArgumentParser
internal import CommandSupport
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
        guard !outbox.isEmpty else { throw ValidationError("--outbox is empty: name the outbox's file.") }
    }

    /// The outbox, which must be there.
    func opened() async throws -> Outbox {
        guard isInPostgres || isThere else {
            let what =
                FileManager.default.fileExists(atPath: outbox)
                ? "\(outbox) is empty, and no outbox" : "there is no outbox at \(outbox)"
            throw Failure.file("\(what): name its file with --outbox; `sealedpush device enroll` makes one")
        }
        return try await outbox(key: try outboxKey.map(Self.key))
    }

    /// The same for a command that makes one where there is none, and then its key's file as well.
    func openedOrMade() async throws -> Outbox {
        if let outboxKey, outboxKey != "-", isInPostgres || !isThere,
            !FileManager.default.fileExists(atPath: outboxKey)
        {
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

    private func outbox(key: OutboxKey?) async throws -> Outbox {
        do throws(OutboxError) {
            guard isInPostgres else { return try Outbox(at: outbox, key: key) }
            #if Postgres
                return try await Outbox(postgres: outbox, key: key)
            #else
                throw OutboxError.connection("this program was built without PostgreSQL (the trait Postgres)")
            #endif
        } catch {
            var failure = Failure(error)
            failure.message = "\(shown): \(failure.message)"
            throw failure
        }
    }

    /// An address that was refused may hold a password: it is not repeated.
    private var shown: String {
        guard isInPostgres else { return outbox }
        #if Postgres
            if (try? PostgresAddress(parsing: outbox)) != nil { return outbox }
        #endif
        return "--outbox"
    }

    private var isInPostgres: Bool { outbox.hasPrefix("postgres://") || outbox.hasPrefix("postgresql://") }

    static func key(_ file: String) throws -> OutboxKey {
        var bytes = try SecretFile.read(file, limit: 4_096)
        defer { wipe(&bytes) }
        do throws(OutboxError) { return try OutboxKey(parsing: bytes) } catch {
            var failure = Failure(error)
            failure.message = "\(file): \(failure.message)"
            throw failure
        }
    }
}

extension DeviceName: ExpressibleByArgument {
    public init?(argument: String) { self.init(parsing: argument) }
}

extension UserName: ExpressibleByArgument {
    public init?(argument: String) { self.init(parsing: argument) }
}

extension SealedBy: ExpressibleByArgument {
    public init?(argument: String) { self.init(parsing: argument) }
}

extension IdempotencyKey: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
