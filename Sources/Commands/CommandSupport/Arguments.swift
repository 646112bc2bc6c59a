public import ArgumentParser
public import PushKeyring
public import SealedPush

// What is typed becomes a type that can't be wrong. The parser names an unusable argument and shows its help, which says the
// rule; exit status 64.

/// An argument that its type reads by itself.
public protocol ParsedArgument: ExpressibleByArgument {
    init?(parsing text: String)
}

extension ParsedArgument {
    public init?(argument: String) { self.init(parsing: argument) }
}

extension Topic: ParsedArgument {}
extension ReceiptAddress: ParsedArgument {}

extension KeyName: ParsedArgument {
    /// The rule, for the help of an argument that makes a name.
    package static let rule =
        "1 to 64 letters, digits, dots, hyphens and underscores, beginning with a letter or digit."
}

/// A key's text, or a name in a keyring, where either may stand.
package enum KeyReference: ExpressibleByArgument, Sendable {
    case text(KeyText)
    case name(KeyName)

    package init?(argument: String) {
        let text = KeyText(argument).map(Self.text)
        guard let reference = text ?? KeyName(parsing: argument).map(Self.name) else { return nil }
        self = reference
    }

    /// The same for what comes from a file, or may be something else as well.
    package init(reading text: String) throws(Failure) {
        guard let reference = KeyReference(argument: text) else {
            throw .usage(
                "a name has 1 to 64 letters, digits, dots, hyphens and underscores, and begins with a letter or digit")
        }
        self = reference
    }
}

/// What begins like a key or a record, well-formed or not.
package struct KeyText: Sendable {
    private let text: String
    private let prefix: String

    fileprivate init?(_ text: String) {
        prefix = String(text.lowercased().prefix { $0 != "1" })
        guard ["push", "pushsender", "pushauthority"].contains(prefix) && text.contains("1") || Self.isRecord(text)
        else { return nil }
        self.text = text
    }

    package func parsed<Key>(_ parse: (String) throws(KeyTextError) -> Key) throws(Failure) -> Key {
        guard !Self.isRecord(text) else {
            throw .usage(
                """
                pushrecord.… is a record, and a key or a name is wanted: bring it into a keyring with `sealedpush keys \
                import`, and give its name there; `sealedpush seal --batch` takes records as they are
                """)
        }
        do { return try parse(text) } catch { throw .input("\(prefix)1…: \(error)") }
    }

    private static func isRecord(_ text: String) -> Bool { text.hasPrefix("pushrecord.") }
}

/// Secrets come from files: who types one has shown it to others.
package enum SecretArgument {
    package static func isIn(_ arguments: [String]) -> Bool {
        zip([""] + arguments, arguments).contains { option, argument in
            let capitals = argument.uppercased()
            return capitals.contains("SECRET-KEY-1") || capitals.contains("PUSH-KEYRING-KEY-1")
                // The outbox says itself what is wrong with its address.
                || option != "--outbox" && !argument.hasPrefix("--outbox=")
                    && (argument.contains(/:\/\/[^\/]*:[^\/]*@/) || capitals.contains("PASSWORD="))
        }
    }
}
