internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import SealedPush

/// Passphrases and keys that commands are given: from files and the environment, never as arguments.
enum Secrets {
    /// A keyring key if the file begins like one, and otherwise a passphrase, on one line; `-` is standard input.
    static func secret(file: String) throws -> KeyringSecret {
        var bytes = try SecretFile.read(file, limit: 4_096)
        defer { wipeSecret(&bytes) }
        if bytes.trimmingSpace.starts(with: Array("PUSH-KEYRING-KEY-1".utf8)) {
            return .key(try SecretFile.keyringKey(bytes, from: file))
        }
        let line = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        guard bytes[line...].count <= 1 else { throw Failure.input("\(file) has more than one line") }
        guard let passphrase = Passphrase(bytes)
        else { throw Failure.input("\(file) holds no passphrase of 1 to 1,024 bytes") }
        return .passphrase(passphrase)
    }

    /// What seals something from now on: read from a file, made if there is no such file, or asked for.
    ///
    /// - Parameters:
    ///   - option: the one that names the file.
    ///   - sealed: what can't be opened without it.
    static func newSecret(file: String?, option: String, question: String, for sealed: String) throws -> KeyringSecret {
        guard let file else {
            guard let passphrase = try Prompt.passphrase(question, isNew: true)
            else { throw Failure.usage("there is no terminal to ask at: name a file with \(option)") }
            return checked(.passphrase(passphrase))
        }
        guard file == "-" || FileManager.default.fileExists(atPath: file) else {
            let key = KeyringKey()
            try key.withText { (text) throws in
                var bytes = [UInt8](text) + [UInt8(ascii: "\n")]
                defer { wipeSecret(&bytes) }
                try makeFile(file, bytes)
            }
            Failure.report("made \(file): without it \(sealed) can't be opened")
            return .key(key)
        }
        return checked(try secret(file: file))
    }

    /// Tells of a passphrase that can be guessed.
    private static func checked(_ secret: KeyringSecret) -> KeyringSecret {
        // NIST SP 800-63B-4, 3.1.1.2: at least 15 characters, where nothing else is asked for.
        if case .passphrase(let passphrase) = secret, passphrase.byteCount < 15 {
            Failure.report(
                "warning: a passphrase of \(passphrase.byteCount) bytes can be guessed, however dear each guess is; four or five random words can't"
            )
        }
        return secret
    }

    /// Makes a file for its owner alone, durably; never overwrites one.
    static func makeFile(_ file: String, _ bytes: [UInt8]) throws {
        do throws(DurableFiles.Failure) {
            try DurableFiles.write(bytes, to: URL(filePath: file), mode: 0o600)
            try DurableFiles.sync(folder: URL(filePath: file).deletingLastPathComponent())
        } catch { throw Failure.file("\(file): \(error.message)") }
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

/// What keeps this process's memory to itself when it ends, or is looked at.
enum Secrecy {
    /// Call first. Whoever looks for a fault says `SWIFT_BACKTRACE=enable=yes`, and is left with all of it.
    ///
    /// - Swift's own report of a crash prints registers and the memory that they point to, so into the journal of a service:
    ///   the signals get their plain actions back.
    /// - No core file: setrlimit(2). On Linux the process is not "dumpable" either, which holds also where a program takes
    ///   cores (core(5)), and keeps other processes of the same user out of its memory (ptrace(2), PR_SET_DUMPABLE in prctl(2)).
    static func begin() {
        if let wanted = getenv("SWIFT_BACKTRACE"), strstr(wanted, "enable=yes") != nil { return }
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV] { _ = signal(number, SIG_DFL) }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Darwin)
            setrlimit(RLIMIT_CORE, &none)
        #else
            setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
            // PR_SET_DUMPABLE is 4.
            _ = prctl?(4, 0, 0, 0, 0)
        #endif
    }

    #if !canImport(Darwin)
        private typealias ProcessControl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        /// Swift does not call C functions with variable arguments.
        private static let prctl = dlsym(nil, "prctl").map { unsafeBitCast($0, to: ProcessControl.self) }
    #endif
}
