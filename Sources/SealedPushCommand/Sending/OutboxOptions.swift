public import ArgumentParser
internal import CommandSupport
internal import Foundation
public import PushOutbox
public import PushSender

/// `--outbox`, and names in it.
struct OutboxOptions: ParsableArguments {
    @Option(help: "The outbox: one file with the devices and what waits for them.")
    var outbox = "outbox.sqlite"

    func validate() throws {
        guard !outbox.isEmpty else { throw ValidationError("--outbox is empty: name the outbox's file.") }
    }

    /// The outbox, which must be there.
    func opened() throws -> Outbox { try Self.opened(outbox) }

    /// The same for a command that makes one where there is none.
    func openedOrMade() throws -> Outbox { try Self.openedOrMade(outbox) }

    static func opened(_ outbox: String) throws -> Outbox {
        guard FileManager.default.fileExists(atPath: outbox) else {
            throw Failure.file(
                "there is no outbox at \(outbox): name its file with --outbox; `sealedpush device enrol` makes one")
        }
        return try openedOrMade(outbox)
    }

    private static func openedOrMade(_ outbox: String) throws -> Outbox {
        do { return try Outbox(at: outbox) } catch {
            var failure = Failure.outbox(error)
            failure.message = "\(outbox): \(failure.message)"
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
