import Foundation
import PushSimulator
import TestPrograms
import TestSupport
import Testing

@Suite("The help of every command", .blocking) struct HelpTests {
    private struct Command: Decodable {
        struct Tool: Decodable { let command: Command }
        let commandName: String
        let subcommands: [Command]?

        /// Returns the words of this command and of all its subcommands.
        func all(_ words: [String] = []) -> [[String]] {
            [words]
                + (subcommands ?? []).filter { $0.commandName != "help" }.flatMap { $0.all(words + [$0.commandName]) }
        }
    }

    @Test("fits 50 lines of 80 columns, and shows no Swift value", arguments: ["sealedpush", "device-simulator"])
    func size(name: String) throws {
        let program = Program(name)
        let dump = try program.run("--experimental-dump-help")
        let commands = try JSONDecoder().decode(Command.Tool.self, from: Data(dump.output.utf8)).command.all()
        #expect(commands.count >= 5)
        for words in commands {
            let help = try program.run(words + ["--help"])
            #expect(help.status == 0)
            let lines = help.output.split(separator: "\n", omittingEmptySubsequences: false)
            let command = ([name] + words).joined(separator: " ")
            let fits = lines.count <= 51 && lines.allSatisfy { $0.count <= 80 }
            #expect(
                fits, "\(command): \(lines.count - 1) lines, the widest of \(lines.map(\.count).max() ?? 0) columns")
            #expect(!help.output.contains(/\w\(\w+:/), "\(command)")
        }
    }

    @Test("fails like any other output if it can't be written", arguments: ["sealedpush", "device-simulator"])
    func unwritable(name: String) throws {
        let closed = Pipe()
        try closed.fileHandleForReading.close()
        for words in [
            "--help", "--version", "help", "--generate-completion-script bash", "--generate-completion-script zsh",
            "--generate-completion-script fish", "--experimental-dump-help",
            "\(name == "sealedpush" ? "keys" : "run") --help",
        ] {
            let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
            for (output, reason) in [(full, "No space left"), (closed.fileHandleForWriting, "Broken pipe")] {
                let folder = try TemporaryFolder()
                try folder.write("", to: "errors")
                let process = try Program(name).start(
                    words.split(separator: " ").map(String.init), output: output,
                    errors: FileHandle(forWritingTo: folder.appending("errors")))
                #expect(process.wait() == .exited(74), "\(words)")
                let errors = try Checkout.text(folder.appending("errors"))
                #expect(errors.hasPrefix("\(name): can't write to standard output: \(reason)"), "\(errors)")
            }
        }
    }
}
