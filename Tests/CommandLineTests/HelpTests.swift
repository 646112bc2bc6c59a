import Foundation
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
}
