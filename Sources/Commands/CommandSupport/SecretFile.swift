internal import Foundation
internal import PushCore
package import PushKeyring
internal import SealedPush

/// A secret file named on the command line; `-` is standard input. Secrets are never arguments, which other users on the
/// machine could read.
package struct SecretFile: Sendable {
    private let option: String
    private let path: String

    /// - Parameter option: the option that names the file, for messages.
    package init(_ path: String, from option: String) { (self.path, self.option) = (path, option) }

    package var isStandardInput: Bool { path == "-" }

    /// Whether there is a file. Standard input always is.
    package func exists() throws(CommandFailure) -> Bool {
        var facts = stat()
        guard !isStandardInput, stat(path, &facts) != 0 else { return true }
        guard errno == ENOENT || errno == ENOTDIR else { throw failure(DurableFiles.Failure(code: errno)) }
        return false
    }

    /// Returns the file's contents without a byte order mark: at most `limit` bytes, which the caller must wipe. Refuses a file
    /// that other users can read, change, or replace, and a pipe or device unless ``InputFile/canWait(_:)`` allows it.
    ///
    /// - Parameter isExposedAllowed: whether to read such a file anyway; the caller then checks its permissions if needed.
    package func read(limit: Int, isExposedAllowed: Bool = false) throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8]
        let place = try InputFile.place(path)
        do throws(DurableFiles.Failure) {
            bytes = try DurableFiles.read(
                place, limit: limit + 1, anyKind: InputFile.canWait(place), isSecret: !isExposedAllowed)
        } catch { throw failure(error) }
        guard bytes.count <= limit else { throw .input("\(self) is larger than \(limit) bytes") }
        guard bytes.hasByteOrderMark else { return bytes }
        defer { wipe(&bytes) }
        return Array(bytes.withoutByteOrderMark)
    }

    /// Durably writes a new file that only its owner can read; never overwrites an existing one.
    package func create(_ bytes: [UInt8]) throws(CommandFailure) {
        do throws(DurableFiles.Failure) { try OutputFile.write(bytes, to: path, mode: 0o600) } catch {
            guard error.code != EEXIST else { throw .file("\(self) already exists and won't be overwritten") }
            throw failure(error)
        }
    }

    package func remove() { unlink(path) }

    private func failure(_ error: DurableFiles.Failure) -> CommandFailure {
        if let exposure = error.exposure {
            return CommandFailure(status: 77, message: "\(self) contains a secret, but \(exposure)")
        }
        let hint = isThere ? "" : "; it takes a file's path, never the secret itself"
        return .file("\(self): \(InputFile.cause(error))\(hint)")
    }

    private var isThere: Bool {
        var facts = stat()
        return lstat(path, &facts) == 0
    }

    /// Reads a keyring key, `PUSH-KEYRING-KEY-1…`, from a file.
    package func keyringKey() throws(CommandFailure) -> KeyringKey {
        var bytes = try read(limit: 4_096)
        defer { wipe(&bytes) }
        return try keyringKey(bytes)
    }

    /// Parses the file's contents.
    package func keyringKey(_ bytes: [UInt8]) throws(CommandFailure) -> KeyringKey {
        do throws(KeyTextError) { return try KeyringKey(parsing: bytes) } catch {
            throw .input("\(self) doesn't contain a keyring key: \(Self.words(error))")
        }
    }

    /// Returns the key that was in the environment, or nil if there wasn't one.
    package static func keyringKeyFromEnvironment() throws(CommandFailure) -> KeyringKey? { try environmentKey.get() }

    /// Removes secrets from /proc/PID/environ, so that nobody who inspects this process later can find them there. The keyring's
    /// key also leaves the environment; libpq still finds its password. Call it at the start, whatever the command.
    static func hideEnvironment() {
        _ = environmentKey
        guard let start = getenv("PGPASSWORD"), start.pointee != 0, let copy = strdup(start) else { return }
        setenv("PGPASSWORD", copy, 1)
        for text in [start, copy] { wipe(UnsafeMutableRawBufferPointer(start: text, count: byteCount(ofText: text))) }
        free(copy)
    }

    private static let environmentKey = Result { () throws(CommandFailure) -> KeyringKey? in
        guard let start = getenv(keyVariable), start.pointee != 0 else { return nil }
        let value = UnsafeMutableRawBufferPointer(start: start, count: byteCount(ofText: start))
        var bytes = [UInt8](value)
        defer {
            wipe(&bytes)
            wipe(value)
            unsetenv(keyVariable)
        }
        do throws(KeyTextError) { return try KeyringKey(parsing: bytes) } catch {
            throw .input(
                "\(keyVariable) isn't a keyring key (to use a key file, specify it with --unlock): \(words(error))")
        }
    }

    private static func words(_ error: KeyTextError) -> String {
        switch error {
        case .notAKey, .wrongKind: "a keyring key starts with PUSH-KEYRING-KEY-1"
        default: error.description
        }
    }

    private static let keyVariable = "SEALED_PUSH_KEY"
}

extension SecretFile: CustomStringConvertible {
    /// The file's path for messages, or the option's name if nothing is there: the text may be a secret.
    package var description: String { isThere ? path : option }
}
