internal import Foundation
internal import PushCore
package import PushKeyring
internal import SealedPush

/// Files with secrets that a person names; `-` is standard input. Secrets are never arguments, which others on the machine could
/// read.
package enum SecretFile {
    /// At most `limit` bytes, which the caller wipes, without a byte order mark. A file that others may read is refused.
    ///
    /// - Parameter isExposedAllowed: whether it is read all the same, by whoever tells of it otherwise.
    package static func read(_ file: String, limit: Int, isExposedAllowed: Bool = false) throws(Failure) -> [UInt8] {
        var bytes: [UInt8]
        do throws(DurableFiles.Failure) {
            bytes = try DurableFiles.read(
                URL(filePath: file == "-" ? "/dev/stdin" : file), limit: limit + 1, anyKind: true,
                isSecret: !isExposedAllowed)
        } catch {
            guard error.code == EPERM else { throw .file("\(file): \(error.message)") }
            throw Failure(
                status: 77,
                message:
                    "\(file) holds a secret, and other users may read it: `chmod 600` it, and take it as known to them")
        }
        guard bytes.count <= limit else { throw .input("\(file) has more than \(limit) bytes") }
        guard bytes.hasByteOrderMark else { return bytes }
        defer { wipe(&bytes) }
        return Array(bytes.withoutByteOrderMark)
    }

    /// A file with PUSH-KEYRING-KEY-1….
    package static func keyringKey(_ file: String) throws(Failure) -> KeyringKey {
        var bytes = try read(file, limit: 4_096)
        defer { wipe(&bytes) }
        return try keyringKey(bytes, from: file)
    }

    package static func keyringKey(_ bytes: [UInt8], from file: String) throws(Failure) -> KeyringKey {
        do throws(KeyTextError) { return try KeyringKey(parsing: bytes) } catch {
            throw .input("\(file) holds no keyring key: \(Self.words(error))")
        }
    }

    /// The key in the environment; nil where there is none. It is taken out of there, and out of /proc/PID/environ, so that
    /// neither a child process nor whoever looks at this one later finds it.
    package static func keyringKeyFromEnvironment() throws(Failure) -> KeyringKey? { try environmentKey.get() }

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
                "\(keyVariable) holds no keyring key (a file with one is named on the command line): \(words(error))")
        }
    }

    private static func words(_ error: KeyTextError) -> String {
        switch error {
        case .notAKey, .wrongKind: "one begins with PUSH-KEYRING-KEY-1"
        default: error.description
        }
    }

    private static let keyVariable = "SEALED_PUSH_KEY"
}
