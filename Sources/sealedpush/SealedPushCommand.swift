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

            Secrets are never given as arguments: they come from files, from SEALED_PUSH_KEY, or are asked for.

            Exit status: 0 done, 64 wrong use, 65 unusable input, 74 files, 75 busy, 77 passphrase or key.
            """,
        version: "0.1.0",
        subcommands: [
            KeysCommand.self, TrustCommand.self, AuthorityCommand.self, SealCommand.self, OpenCommand.self,
            InspectCommand.self, DoctorCommand.self,
        ])

    static func main() {
        Secrets.refuseInArguments(CommandLine.arguments)
        main(nil)
    }

    func run() throws {
        throw ValidationError("Say what to do: keys, trust, authority, seal, open, inspect or doctor.")
    }
}
