public import ArgumentParser
public import PushKeyring
public import SealedPush

// Each argument is parsed into a type that holds only valid values. For an invalid argument, the parser prints
// the argument and its help, which states the rule, and exits with status 64.

/// A command-line argument whose type parses itself.
public protocol ParsedArgument: ExpressibleByArgument {
    init?(parsing text: String)
}

extension ParsedArgument {
    public init?(argument: String) { self.init(parsing: argument) }
}

extension ArgumentHelp {
    /// Returns an option's help and the name of its value. Keep both short enough for one line.
    package static func value(_ name: String, _ text: String) -> ArgumentHelp { ArgumentHelp(text, valueName: name) }
}

extension Topic: ParsedArgument {}
extension ServiceName: ParsedArgument {}
extension ReceiptAddress: ParsedArgument {}

extension KeyName: ParsedArgument {
    /// The rule for names, for the help of an argument that creates one.
    package static let rule =
        "1 to 64 letters, digits, dots, hyphens, and underscores, starting with a letter or digit."
}

/// A key's text or a name in a keyring, for arguments that accept either.
package enum KeyReference: ExpressibleByArgument, Sendable {
    case text(KeyText)
    case name(KeyName)

    package init?(argument: String) {
        let text = KeyText(argument).map(Self.text)
        guard let reference = text ?? KeyName(parsing: argument).map(Self.name) else { return nil }
        self = reference
    }

    /// Parses text that comes from a file, or that the caller has already checked for other forms.
    ///
    /// - Throws: a failure with status 64 if the text is neither a key nor a name.
    package init(reading text: String) throws(CommandFailure) {
        guard let reference = KeyReference(argument: text) else {
            throw .usage(
                "a name has 1 to 64 letters, digits, dots, hyphens, and underscores, and starts with a letter or digit")
        }
        self = reference
    }
}

/// Text that starts like a key or a record, whether or not it's well-formed.
package struct KeyText: Sendable {
    private let text: String
    /// The start of a key's text, with the `1` or the dot.
    private let prefix: String

    fileprivate init?(_ text: String) {
        let word = text.prefix { $0 != "1" && $0 != "." }
        prefix = word.lowercased() + text.dropFirst(word.count).prefix(1)
        guard ["push1", "pushpq.", "pushsender1", "pushauthority1"].contains(prefix) || Self.isRecord(text) else {
            return nil
        }
        self.text = text
    }

    package func parsed<Key>(_ parse: (String) throws(KeyTextError) -> Key) throws(CommandFailure) -> Key {
        guard !Self.isRecord(text) else {
            throw .usage(
                """
                pushrecord.… is a record, but a key or a name is expected; import it with `sealedpush keys import` and use \
                its name in the keyring, or use `sealedpush seal --batch`, which accepts records
                """)
        }
        do { return try parse(text) } catch { throw .input("\(prefix)…: \(error)") }
    }

    private static func isRecord(_ text: String) -> Bool { text.hasPrefix("pushrecord.") }
}

/// The check for secrets typed as arguments, where other users can see them. Secrets must come from files.
package enum SecretArgument {
    package static func isIn(_ arguments: [String]) -> Bool {
        zip([""] + arguments, arguments).contains { option, argument in
            let capitals = argument.uppercased()
            return ["SECRET-KEY-1", "PUSH-KEYRING-KEY-1", "PRIVATE KEY--", "AUTHORIZATION:"].contains(
                where: capitals.contains)
                || capitals.hasPrefix("BEARER ") || capitals.contains("=BEARER ")
                // Opening the outbox reports problems with its address.
                || option != "--outbox" && !argument.hasPrefix("--outbox=")
                    && (argument.contains(/:\/\/[^\/]*:[^\/]*@/) || capitals.contains("PASSWORD="))
        }
    }
}
