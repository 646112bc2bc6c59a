public import ArgumentParser
internal import CommandSupport
internal import Foundation
public import PushOutbox
public import PushSender

#if Postgres
    internal import PushPostgres
#endif

/// `--outbox`, and names in it.
struct OutboxOptions: ParsableArguments {
    @Option(
        help: """
            The outbox: a file with the devices and what waits for them, or postgres://USER@HOST/DATABASE (the password in \
            PGPASSWORD, or in a file that PGPASSFILE names).
            """)
    var outbox = "outbox.sqlite"

    func validate() throws {
        guard !outbox.isEmpty else { throw ValidationError("--outbox is empty: name the outbox's file.") }
    }

    /// The outbox, which must be there.
    func opened() async throws -> Outbox { try await Self.opened(outbox) }

    /// The same for a command that makes one where there is none.
    func openedOrMade() async throws -> Outbox { try await Self.openedOrMade(outbox) }

    static func opened(_ outbox: String) async throws -> Outbox {
        guard isInPostgres(outbox) || FileManager.default.fileExists(atPath: outbox) else {
            throw Failure.file(
                "there is no outbox at \(outbox): name its file with --outbox; `sealedpush device enrol` makes one")
        }
        return try await openedOrMade(outbox)
    }

    private static func openedOrMade(_ outbox: String) async throws -> Outbox {
        do throws(OutboxError) {
            guard isInPostgres(outbox) else { return try Outbox(at: outbox) }
            #if Postgres
                return try await Outbox(postgres: outbox)
            #else
                throw OutboxError.connection("this program was built without PostgreSQL (the trait Postgres)")
            #endif
        } catch {
            var failure = Failure.outbox(error)
            failure.message = "\(outbox): \(failure.message)"
            throw failure
        }
    }

    private static func isInPostgres(_ outbox: String) -> Bool {
        outbox.hasPrefix("postgres://") || outbox.hasPrefix("postgresql://")
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
