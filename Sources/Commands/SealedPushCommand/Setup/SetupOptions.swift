internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import SealedPush

/// The options that describe a setup.
struct SetupOptions: ParsableArguments {
    @Option(help: "The app's bundle ID, such as com.example.app.") var topic: Topic?

    @Option(help: .value("name", "The sender's name. (default: newsroom)")) var sender: KeyName?

    @Option(
        help: .value("key", "The sender's public key: refuse any other, and a new one."),
        transform: { try SenderPublicKey(parsing: $0) })
    var senderKey: SenderPublicKey?

    /// Creates what is missing in a layout.
    ///
    /// - Parameter isAsking: whether to ask at the terminal for a missing bundle ID.
    func run(
        _ layout: SetupLayout, providerKey: ProviderKeyName? = nil, isAsking: Bool = true
    ) throws -> Setup.Report {
        try Setup(
            layout: layout, topic: topic, sender: sender, expected: senderKey, providerKey: providerKey,
            askForTopic: {
                guard isAsking, let answer = Prompt.line("The app's bundle ID, such as com.example.app: ") else {
                    throw CommandFailure.usage(
                        "the app's bundle ID isn't known, and there is no terminal for a prompt; use --topic")
                }
                guard let topic = Topic(parsing: answer) else {
                    throw CommandFailure.usage("a bundle ID has 1 to 155 letters, digits, dots, and hyphens")
                }
                return topic
            }
        ).run()
    }
}

extension SetupLayout {
    /// Checks the value of `--in`.
    static func validate(_ folder: String?) throws {
        guard folder.map(TypedPath.isPath) ?? true else {
            throw ValidationError("--in must be a folder's path, starting with / or ./ if it contains any of :=?@.")
        }
    }
}

extension Setup.Report {
    var json: JSONValue {
        func paths(_ isNew: Bool) -> JSONValue {
            .array(items.filter { $0.isNew == isNew }.map { .string($0.path) })
        }
        return [
            "created": paths(true), "existing": paths(false), "name": .text(name), "topic": .text(topic),
            "sender": .text(sender), "fingerprint": .text(sender.fingerprint), "settings": .text(layout.settings),
            "newSender": .bool(isNewSender),
        ]
    }

    /// Prints the files, and the sender's key for the app; its QR code only when the key is new.
    func print() throws {
        try Output.table(
            ["", "FILE", "FOR"],
            items.map { [$0.isNew ? "created" : "existing", TerminalText.printable($0.path), $0.purpose] })
        try Output.line("")
        try Output.line("The public key of \(name), for the app's `trusting`:")
        try Output.line(sender.description)
        try Output.line("fingerprint: \(sender.fingerprint)")
        guard isNewSender, let code = QRCode(sender) else { return }
        for line in code.terminalLines { try Output.line(line) }
    }
}
