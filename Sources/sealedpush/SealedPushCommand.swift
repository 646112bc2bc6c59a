internal import ArgumentParser

@main
struct SealedPushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sealedpush",
        abstract: "Keys and messages for end-to-end encrypted notifications.",
        discussion: """
            Example:
              sealedpush keys generate device alice-phone --keyring Keys
              sealedpush keys generate sender newsroom --keyring Keys
              echo '{"alert":{"title":"Nina","body":"Lunch at one?"}}' |
                sealedpush seal - --from newsroom --to alice-phone --topic com.example.app --keyring Keys

            Exit status: 0 done, 64 wrong use, 65 unusable input, 74 files.
            """,
        version: "0.1.0",
        subcommands: [KeysCommand.self, SealCommand.self, OpenCommand.self, InspectCommand.self])

    func run() throws { throw ValidationError("Say what to do: keys, seal, open or inspect.") }
}
