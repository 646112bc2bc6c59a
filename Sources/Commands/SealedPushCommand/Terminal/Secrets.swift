internal import CommandSupport
internal import PushCore
internal import PushKeyring
internal import SealedPush

/// Passphrases and keys for commands: from files and the environment, never from arguments.
enum Secrets {
    /// Reads a keyring key if the file starts like one, or otherwise a passphrase on one line; `-` is standard input.
    static func secret(_ file: SecretFile) throws -> KeyringSecret {
        var bytes = try file.read(limit: 4_096)
        defer { wipe(&bytes) }
        if bytes.trimmingSpace.starts(with: Array("PUSH-KEYRING-KEY-1".utf8)) {
            return .key(try file.keyringKey(bytes))
        }
        let line = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        guard bytes[line...].count <= 1 else { throw CommandFailure.input("\(file) contains more than one line") }
        guard let passphrase = Passphrase(bytes)
        else { throw CommandFailure.input("\(file) doesn't contain a passphrase of 1 to 1,024 bytes") }
        return .passphrase(passphrase)
    }

    /// Returns a secret to seal something with: read from a file, generated if the file doesn't exist, or typed at a prompt.
    ///
    /// - Parameters:
    ///   - option: the option that names the file.
    ///   - sealed: the thing that can't be opened without the secret, for messages.
    /// - Returns: also the file, if it was created. Remove it if nothing was sealed: it could be mistaken for another key.
    static func newSecret(
        file path: String?, option: String, question: String, for sealed: String
    ) throws -> (secret: KeyringSecret, created: SecretFile?) {
        guard let path else {
            guard let passphrase = try Prompt.passphrase(question, isNew: true)
            else { throw CommandFailure.usage("there is no terminal for a prompt; specify a file with \(option)") }
            return (checked(.passphrase(passphrase)), nil)
        }
        let file = SecretFile(path, from: option)
        guard try file.exists() else {
            let key = KeyringKey()
            try key.withText { (text) throws in
                var bytes = [UInt8](text) + [UInt8(ascii: "\n")]
                defer { wipe(&bytes) }
                try file.create(bytes)
            }
            CommandFailure.report("created \(file); without it, \(sealed) can't be opened")
            return (.key(key), file)
        }
        return (checked(try secret(file)), nil)
    }

    /// Warns about a passphrase that can be guessed.
    private static func checked(_ secret: KeyringSecret) -> KeyringSecret {
        // NIST SP 800-63B-4, 3.1.1.2: at least 15 characters for single-factor authentication.
        if case .passphrase(let passphrase) = secret, passphrase.byteCount < 15 {
            CommandFailure.report(
                "warning: a passphrase of \(passphrase.byteCount) bytes can be guessed, even at a high cost per guess; use four or five random words"
            )
        }
        return secret
    }
}
