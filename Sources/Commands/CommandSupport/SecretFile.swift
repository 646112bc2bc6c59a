internal import Foundation
internal import PushCore
package import PushKeyring
internal import SealedPush

/// Secret files named on the command line; `-` is standard input. Secrets are never arguments, which other users on the machine
/// could read.
package enum SecretFile {
    /// Returns the file's contents without a byte order mark: at most `limit` bytes, which the caller must wipe. Refuses a file
    /// that other users can read, and a pipe or device unless ``InputFile/canWait(_:)`` allows it.
    ///
    /// - Parameter isExposedAllowed: whether to read such a file anyway; the caller then checks its permissions if needed.
    package static func read(_ file: String, limit: Int, isExposedAllowed: Bool = false) throws(Failure) -> [UInt8] {
        var bytes: [UInt8]
        let place = try InputFile.place(file)
        do throws(DurableFiles.Failure) {
            bytes = try DurableFiles.read(
                place, limit: limit + 1, anyKind: InputFile.canWait(place), isSecret: !isExposedAllowed)
        } catch {
            guard error.code == EPERM else { throw InputFile.unreadable(file, error) }
            throw Failure(
                status: 77,
                message:
                    "\(file) contains a secret, but other users can read it; run `chmod 600`, and treat the secret as exposed"
            )
        }
        guard bytes.count <= limit else { throw .input("\(file) is larger than \(limit) bytes") }
        guard bytes.hasByteOrderMark else { return bytes }
        defer { wipe(&bytes) }
        return Array(bytes.withoutByteOrderMark)
    }

    /// Reads a keyring key, `PUSH-KEYRING-KEY-1…`, from a file.
    package static func keyringKey(_ file: String) throws(Failure) -> KeyringKey {
        var bytes = try read(file, limit: 4_096)
        defer { wipe(&bytes) }
        return try keyringKey(bytes, from: file)
    }

    package static func keyringKey(_ bytes: [UInt8], from file: String) throws(Failure) -> KeyringKey {
        do throws(KeyTextError) { return try KeyringKey(parsing: bytes) } catch {
            throw .input("\(file) doesn't contain a keyring key: \(Self.words(error))")
        }
    }

    /// Returns the key that was in the environment, or nil if there wasn't one.
    package static func keyringKeyFromEnvironment() throws(Failure) -> KeyringKey? { try environmentKey.get() }

    /// Removes secrets from /proc/PID/environ, so that nobody who inspects this process later can find them there. The keyring's
    /// key also leaves the environment; libpq still finds its password. Call it at the start, whatever the command.
    static func hideEnvironment() {
        _ = environmentKey
        guard let start = getenv("PGPASSWORD"), start.pointee != 0, let copy = strdup(start) else { return }
        setenv("PGPASSWORD", copy, 1)
        for text in [start, copy] { wipe(UnsafeMutableRawBufferPointer(start: text, count: strlen(text))) }
        free(copy)
    }

    private static let environmentKey = Result { () throws(Failure) -> KeyringKey? in
        guard let start = getenv(keyVariable), start.pointee != 0 else { return nil }
        let value = UnsafeMutableRawBufferPointer(start: start, count: strlen(start))
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
