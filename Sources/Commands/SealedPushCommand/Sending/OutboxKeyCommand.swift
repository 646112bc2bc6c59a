internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushOutbox

/// `sealedpush outbox key`
struct OutboxKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Makes the key that vouches for an outbox's rows.",
        discussion: """
            Without this key, somebody who can write the database can have nothing sent that was not enqueued, and nothing sealed \
            to a key that was not registered. An outbox has a key from its first row on, or never. Keep a copy apart from the \
            database's.

            Example:
              sealedpush outbox key outbox.key
            """)

    @Argument(help: "The file to make, for its owner alone; never overwritten.")
    var file: String

    func run() throws {
        try Failure.reporting {
            try OutboxKey.text { text throws in
                let url = URL(filePath: file)
                do throws(DurableFiles.Failure) {
                    try DurableFiles.write(text, to: url, mode: 0o600)
                    try DurableFiles.sync(folder: url.deletingLastPathComponent())
                } catch { throw Failure.file("\(file): \(error.message)") }
            }
            try Output.line("\(file): give it to all who register, enqueue or deliver, with --outbox-key.")
        }
    }
}
