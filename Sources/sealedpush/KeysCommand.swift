internal import ArgumentParser
internal import Foundation
internal import PushKeyring
internal import SealedPush

/// `sealedpush keys`
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Makes, lists and exchanges keys.",
        subcommands: [Generate.self, List.self, Show.self, Export.self, Import.self])

    func run() throws { throw ValidationError("Say what to do with keys: generate, list, show, export or import.") }

    struct Generate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a key and prints its public half.",
            discussion: "Example:\n  sealedpush keys generate device alice-phone --keyring Keys")

        enum Kind: String, ExpressibleByArgument, CaseIterable {
            case device
            case sender
        }

        @Argument(help: "device (opens messages) or sender (seals them).")
        var kind: Kind

        @Argument(help: "The new key's name.")
        var name: String

        @OptionGroup var keyring: KeyringOptions

        func run() throws {
            try Failure.reporting {
                let name = try keyring.name(name)
                switch kind {
                case .device: try Output.line(keyring.keys.generateDevice(named: name).description)
                case .sender: try Output.line(keyring.keys.generateSender(named: name).description)
                }
            }
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the keys; never a secret.", discussion: "Example:\n  sealedpush keys list --keyring Keys")

        @OptionGroup var keyring: KeyringOptions

        @Flag(help: "Print one JSON array.")
        var json = false

        func run() throws {
            try Failure.reporting {
                let (entries, errors) = try keyring.keys.entries()
                defer { for error in errors { Failure.report(error.description) } }
                if json { try Output.json(.array(entries.map(\.json))) } else { try printTable(entries) }
                if let error = errors.first { throw ExitCode(Failure.keyring(error).status) }
            }
        }

        private func printTable(_ entries: [KeyringEntry]) throws {
            if entries.isEmpty {
                try Output.line("There are no keys in \(keyring.keyring).")
            } else {
                try Output.table(
                    ["NAME", "KIND", "KEY ID", "CREATED", "SECRET", "PUBLIC KEY"],
                    entries.map { entry in
                        [
                            entry.name.description, entry.key.kind.rawValue, entry.key.keyID.description,
                            entry.created.iso8601, entry.hasSecret ? "here" : "elsewhere", entry.key.description,
                        ]
                    })
            }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows one key, or all; never a secret.",
            discussion: "Example:\n  sealedpush keys show newsroom --keyring Keys --json\n\n" + QRCode.help)

        @Argument(help: "The key's name; all keys without it.")
        var name: String?

        @OptionGroup var keyring: KeyringOptions

        @Flag(help: "Print JSON.")
        var json = false

        @Flag(help: "Print the public key as a QR code too; needs a name.")
        var qr = false

        func validate() throws { try QRCode.validate(isAskedFor: qr, hasName: name != nil, json: json) }

        func run() throws {
            try Failure.reporting {
                let entries =
                    if let name { [try keyring.keys.entry(named: keyring.name(name))] } else {
                        try keyring.keys.entries().keys
                    }
                if json { return try Output.json(name == nil ? .array(entries.map(\.json)) : entries[0].json) }
                for (index, entry) in entries.enumerated() {
                    if index > 0 { print("") }
                    try Output.line("name:       \(entry.name)")
                    try Output.line("kind:       \(entry.key.kind.rawValue)")
                    try Output.line("key ID:     \(entry.key.keyID)")
                    try Output.line("created:    \(entry.created.iso8601)")
                    try Output.line("secret:     \(entry.hasSecret ? "here" : "elsewhere")")
                    try Output.line("public key: \(entry.key)")
                    if qr { try QRCode.show(entry.key) }
                }
            }
        }
    }

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints a key's public half.",
            discussion: "Example:\n  sealedpush keys export newsroom --keyring Keys")

        @Argument(help: "The key's name.")
        var name: String

        @OptionGroup var keyring: KeyringOptions

        func run() throws {
            try Failure.reporting {
                try Output.line(keyring.keys.entry(named: keyring.name(name)).key.description)
            }
        }
    }

    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Adds somebody else's public key.",
            discussion: "Example:\n  sealedpush keys import bob-phone push1... --keyring Keys")

        @Argument(help: "The name it gets here.")
        var name: String

        @Argument(help: ArgumentHelp("push1… or pushsender1…", valueName: "key"))
        var text: String

        @OptionGroup var keyring: KeyringOptions

        func run() throws {
            try Failure.reporting {
                let name = try keyring.name(name)
                let key: PublicKey
                do { key = try PublicKey(parsing: text) } catch { throw Failure.input("no public key: \(error)") }
                try keyring.keys.add(key, named: name)
                try Output.line("\(name): \(key.kind.rawValue) \(key.keyID)")
            }
        }
    }
}

extension KeyringEntry {
    fileprivate var json: JSONValue {
        [
            "name": .string(name.description), "kind": .string(key.kind.rawValue),
            "keyID": .string(key.keyID.description), "publicKey": .string(key.description),
            "created": .string(created.iso8601), "hasSecret": .bool(hasSecret),
        ]
    }
}
