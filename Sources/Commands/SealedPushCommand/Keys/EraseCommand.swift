internal import ArgumentParser
internal import PushKeyring

struct EraseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Permanently erase a key's secret, or remove someone else's name with all its keys.",
        usage: "sealedpush keys erase [<options>] <name>",
        discussion: """
            Without --key, erases the key in use. The secret is gone from the keyring's files, but not necessarily from \
            flash memory, snapshots, or backups.

            Example:
              sealedpush keys erase alice-phone --key 5d1f09a2 --yes --keyring Keys
            """)

    @OptionGroup var life: LifeOptions

    func run() throws {
        let (keys, entry, id) = try life.chosen("keys erase")
        let name = entry.name
        let loss =
            switch (entry.isOwn, entry.kind) {
            case (false, _): "\(name) will be removed from this keyring, with all its keys."
            case (true, .device): "Messages sealed to this key of \(name) will never open again."
            case (true, .sender): "This key of \(name) will never seal messages again."
            case (true, .authority):
                "This authority will never sign again, and apps that have it built in will need an update."
            }
        try Prompt.confirm("\(loss) This can't be undone.", isConfirmed: life.yes)
        let erased = try keys.erase(name, key: id)
        try Output.line(entry.isOwn ? "\(name): \(erased.keyID) is erased" : "\(name) is removed")
    }
}
