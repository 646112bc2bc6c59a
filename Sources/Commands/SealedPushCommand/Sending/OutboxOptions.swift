public import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
public import PushOutbox
public import PushSender

#if Postgres
    internal import PushPostgres
#endif

/// `--outbox`, and names in it.
struct OutboxOptions: ParsableArguments {
    @Option(help: .value("place", "A file, or postgres://…")) var outbox = "outbox.sqlite"

    @Option(help: .value("file", "The outbox's key, if it has one.")) var outboxKey: String?

    func validate() throws {
        guard !outbox.isEmpty else { throw ValidationError("--outbox is empty: name the outbox's file.") }
    }

    /// The outbox, which must be there.
    func opened() async throws -> Outbox { try await Self.opened(outbox, key: outboxKey) }

    /// The same for a command that makes one where there is none.
    func openedOrMade() async throws -> Outbox { try await Self.openedOrMade(outbox, key: outboxKey) }

    static func opened(_ outbox: String, key: String? = nil) async throws -> Outbox {
        guard isInPostgres(outbox) || isThere(outbox) else {
            let what =
                FileManager.default.fileExists(atPath: outbox)
                ? "\(outbox) is empty, and no outbox" : "there is no outbox at \(outbox)"
            throw Failure.file("\(what): name its file with --outbox; `sealedpush device enroll` makes one")
        }
        return try await openedOrMade(outbox, key: key)
    }

    /// An empty file is no outbox yet, and would become one.
    private static func isThere(_ outbox: String) -> Bool {
        let facts = try? FileManager.default.attributesOfItem(atPath: outbox)
        return facts.map { $0[.size] as? Int != 0 } ?? false
    }

    private static func openedOrMade(_ outbox: String, key: String?) async throws -> Outbox {
        let key = try key.map(Self.key)
        do throws(OutboxError) {
            guard isInPostgres(outbox) else { return try Outbox(at: outbox, key: key) }
            #if Postgres
                return try await Outbox(postgres: outbox, key: key)
            #else
                throw OutboxError.connection("this program was built without PostgreSQL (the trait Postgres)")
            #endif
        } catch {
            var failure = Failure.outbox(error)
            failure.message = "\(shown(outbox)): \(failure.message)"
            throw failure
        }
    }

    /// An address that was refused may hold a password: it is not repeated.
    private static func shown(_ outbox: String) -> String {
        guard isInPostgres(outbox) else { return outbox }
        #if Postgres
            if (try? PostgresAddress(parsing: outbox)) != nil { return outbox }
        #endif
        return "--outbox"
    }

    static func isInPostgres(_ outbox: String) -> Bool {
        outbox.hasPrefix("postgres://") || outbox.hasPrefix("postgresql://")
    }

    static func key(_ file: String) throws -> OutboxKey {
        var bytes = try SecretFile.read(file, limit: 4_096)
        defer { wipe(&bytes) }
        do throws(OutboxError) { return try OutboxKey(parsing: bytes) } catch {
            var failure = Failure.outbox(error)
            failure.message = "\(file): \(failure.message)"
            throw failure
        }
    }

    /// Names in a file.
    static func device(_ text: String) throws -> DeviceName {
        guard let name = DeviceName(parsing: text) else {
            throw Failure.usage("a device's name has 1 to 128 bytes of visible text")
        }
        return name
    }

    static func user(_ text: String) throws -> UserName {
        guard let name = UserName(parsing: text) else {
            throw Failure.usage("a user's name has 1 to 128 bytes of visible text")
        }
        return name
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
