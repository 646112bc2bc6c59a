internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import SealedPush

/// Passphrases and keys that commands are given: from files and the environment, never as arguments.
enum Secrets {
    /// A keyring key if the file begins like one, and otherwise a passphrase; `-` is standard input.
    static func secret(file: String, isExposedAllowed: Bool = false) throws -> KeyringSecret {
        var bytes = try SecretFile.read(file, limit: 4_096, isExposedAllowed: isExposedAllowed)
        defer { wipeSecret(&bytes) }
        guard bytes.starts(with: Array("PUSH-KEYRING-KEY-1".utf8)) else {
            return .passphrase(try passphrase(bytes, from: file))
        }
        return .key(try SecretFile.keyringKey(bytes, from: file))
    }

    /// A file with one line, the passphrase; `-` is standard input.
    static func passphrase(file: String) throws -> Passphrase {
        var bytes = try SecretFile.read(file, limit: 4_096)
        defer { wipeSecret(&bytes) }
        return try passphrase(bytes, from: file)
    }

    private static func passphrase(_ bytes: [UInt8], from file: String) throws -> Passphrase {
        let line = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        guard bytes[line...].count <= 1 else { throw Failure.input("\(file) has more than one line") }
        guard let passphrase = Passphrase(bytes) else {
            throw Failure.input("\(file) holds no passphrase of 1 to 1,024 bytes")
        }
        return passphrase
    }

    /// What seals something from now on: tells of a passphrase that can be guessed.
    static func new(_ secret: KeyringSecret) -> KeyringSecret {
        guard case .passphrase(let passphrase) = secret else { return secret }
        // NIST SP 800-63B-4, 3.1.1.2: at least 15 characters, where nothing else is asked for.
        if passphrase.byteCount < 15 {
            Failure.report(
                "warning: a passphrase of \(passphrase.byteCount) bytes can be guessed, however dear each guess is; four or five random words can't"
            )
        }
        return secret
    }

    /// Makes a key file, for its owner alone; never overwrites one.
    static func makeKey(file: String) throws -> KeyringKey {
        let key = KeyringKey()
        try key.withText { (text) throws in
            var bytes = [UInt8](text) + [UInt8(ascii: "\n")]
            defer { wipeSecret(&bytes) }
            do throws(DurableFiles.Failure) {
                try DurableFiles.write(bytes, to: URL(filePath: file), mode: 0o600)
                try DurableFiles.sync(folder: URL(filePath: file).deletingLastPathComponent())
            } catch { throw Failure.file("\(file): \(error.message)") }
        }
        return key
    }

    /// Ends the program where a secret was typed as an argument, before anything repeats it.
    static func refuseInArguments(_ arguments: [String]) {
        guard SecretArgument.isIn(arguments) else { return }
        Failure.report(
            "a secret was typed as an argument: it is in the shell's history now, and other users could see it. Take it as known to others. Secrets come from files: see --help"
        )
        exit(64)
    }
}
