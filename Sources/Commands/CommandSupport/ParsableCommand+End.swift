package import ArgumentParser
internal import Foundation

extension ParsableCommand {
    /// Ends the program for what the argument parser throws: prints help, a version, or a completion script, or says what is
    /// wrong with the arguments.
    package static func end(parsing error: any Error, of arguments: [String]) -> Never {
        let (text, status) = outcome(of: error, parsing: arguments)
        guard !text.isEmpty else { Foundation.exit(status) }
        guard status == 0 else {
            try? FileHandle.standardError.write(contentsOf: Data("\(text)\n".utf8))
            Foundation.exit(status)
        }
        do throws(CommandFailure) { try OutputFile.print(Array("\(text)\n".utf8)) } catch {
            let line = "\(configuration.commandName ?? ""): \(error.message)\n"
            try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
            Foundation.exit(error.status)
        }
        Foundation.exit(0)
    }

    /// Returns the text to show and the exit status. The text doesn't repeat values that were typed, which may be secrets.
    package static func outcome(of error: any Error, parsing arguments: [String]) -> (text: String, status: Int32) {
        let (text, status) = (fullMessage(for: error), exitCode(for: error).rawValue)
        let message = message(for: error)
        guard status != 0, !message.isEmpty else { return (text, status) }
        let safe = ParserMessage.withoutValues(message, of: arguments)
        return (text.replacing(message, with: safe, maxReplacements: 1), status)
    }
}

/// The argument parser's messages without the values that were typed.
enum ParserMessage {
    /// Returns the message with only option names and plain words as typed. An option's value is never repeated.
    static func withoutValues(_ message: String, of arguments: [String]) -> String {
        let values = arguments.flatMap { argument in
            [argument] + (argument.firstIndex(of: "=").map { [String(argument[argument.index(after: $0)...])] } ?? [])
        }.filter { !$0.isEmpty }.sorted { $0.utf8.count > $1.utf8.count }
        var text = message
        for value in values {
            text = text.replacing("The value '\(value)' is invalid", with: "The value is invalid")
            if !isWord(value) { text = text.replacing("'\(value)'", with: "'…'") }
        }
        // The last resort, if a later parser words its messages differently.
        let isLeft = values.contains { !isWord($0) && $0.utf8.count > 3 && text.contains($0) }
        return isLeft ? "The arguments are invalid." : text
    }

    /// Whether it looks like a mistyped command or option, rather than like a secret.
    private static func isWord(_ value: String) -> Bool {
        value.utf8.count <= 24 && value.utf8.allSatisfy { $0 == UInt8(ascii: "-") || (97...122).contains($0) }
    }
}
