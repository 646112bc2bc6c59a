internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import SealedPush

struct RevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Declare keys stolen, so that they no longer open or seal messages.",
        usage: "sealedpush keys revoke [<options>] <name>",
        discussion: """
            Revokes all keys under the name, including one that isn't in use yet; --key revokes just one. Another's \
            device then can't update its record; erase the name and let the device enroll again.

            Example:
              sealedpush keys revoke newsroom --keyring Keys
            """)

    @OptionGroup var life: LifeOptions

    func run() throws {
        let (keys, entry, id) = try life.chosen("keys revoke")
        let asked = entry.keys.filter { id == nil || $0.key.keyID == id }
        let already = asked.filter { $0.life.state == .revoked }.map(\.key)
        let isDone = !already.isEmpty && asked.allSatisfy { [.revoked, .erased].contains($0.life.state) }
        let revoked = isDone ? already : try revoke(entry, id, in: keys)
        for key in revoked { try Output.line("\(entry.name): \(key.keyID) is \(isDone ? "already " : "")revoked") }
        if let hint = Self.hint(entry, revoked) { CommandFailure.report("hint: \(hint)") }
    }

    private func revoke(_ entry: KeyringEntry, _ id: KeyID?, in keys: Keyring) throws -> [AnyPublicKey] {
        let loss =
            switch entry.kind {
            case .device: "Messages in transit to \(entry.name) won't open."
            case .sender: "The current keys of \(entry.name) will no longer seal messages."
            case .authority: "\(entry.name) will no longer sign sender sets."
            }
        try Prompt.confirm("\(loss) This can't be undone.", isConfirmed: life.yes)
        return try keys.revoke(entry.name, key: id)
    }

    /// Returns a hint about other places where a revocation must take effect.
    private static func hint(_ entry: KeyringEntry, _ revoked: [AnyPublicKey]) -> String? {
        switch entry.kind {
        case .sender:
            let purges = revoked.map { "`sealedpush outbox purge --sender \($0)`" }.joined(separator: ", ")
            return
                "`serve` applies this on SIGHUP (kill -HUP PID); to discard waiting pushes sealed with it, run \(purges)"
        case .device where !entry.isOwn:
            return
                "an outbox has a separate list of devices; use `sealedpush device remove` to remove a device and its pushes there"
        case .device, .authority: return nil
        }
    }
}
