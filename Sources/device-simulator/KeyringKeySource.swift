internal import Foundation
internal import PushCrypto
internal import PushKeyring
internal import SealedPush
internal import _PushBase

/// Where the key of a sealed keyring comes from: a file, or the environment variable `SEALED_PUSH_KEY`. Never an argument,
/// which others on the machine could read.
///
/// It opens the keyring here: the extension's process has the phone's keychain, and knows of no keyring.
struct KeyringKeySource: Sendable {
    private let keyFile: URL?

    /// - Parameter keyFile: comes before the environment; nil for the environment alone.
    init(keyFile: URL?) { self.keyFile = keyFile }

    /// What opens the keyring; nil where there is neither, as for a keyring that is not sealed.
    func unlocking() throws(KeyringKeyError) -> KeyringUnlocking? {
        guard var text = try text() else { return nil }
        defer { wipe(&text) }
        do throws(KeyTextError) {
            return .given(.key(try KeyringKey(parsing: text)))
        } catch {
            throw .unusable(place)
        }
    }

    private func text() throws(KeyringKeyError) -> [UInt8]? {
        guard let keyFile else {
            guard let value = getenv(Self.variable), value.pointee != 0 else { return nil }
            return Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
        }
        do throws(DurableFiles.Failure) {
            return try DurableFiles.read(keyFile, limit: Self.maximumByteCount, anyKind: true, isSecret: true)
        } catch {
            throw error.code == EPERM ? .exposed(place) : .unreadable(place, error.message)
        }
    }

    private var place: String { keyFile?.path(percentEncoded: false) ?? Self.variable }

    private static let variable = "SEALED_PUSH_KEY"
    /// More than a key, and white space around it.
    private static let maximumByteCount = 4_096
}

/// Why a keyring's key could not be had. Never holds any of it.
enum KeyringKeyError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file can't be read.
    case unreadable(String, String)
    /// Other users may read the file.
    case exposed(String)
    /// What is there is no key.
    case unusable(String)

    var description: String {
        switch self {
        case .unreadable(let place, let message): "\(place): \(message)"
        case .exposed(let place): "\(place) holds a secret, and other users may read it: `chmod 600` it"
        case .unusable(let place): "\(place) holds no key of a keyring: it begins with PUSH-KEYRING-KEY-1"
        }
    }
}
