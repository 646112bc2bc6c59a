import Foundation
internal import PushCore
import SealedPush

/// The proof that this device wrote a notification's user info: a hash under a key that never leaves the device.
///
/// A carrier can put the same members into a push that doesn't wake the extension, but not the proof. So it doesn't matter what
/// else the system adds to user info. The key is a file that can be read before the first unlock, since a locked device
/// writes user info, too. Source: DeviceState 31.3.
struct NotificationSeal: Sendable {
    private let root: URL?

    /// - Parameter root: The folder `SealedPush` of the shared container; nil if there is none. Then nothing has a proof.
    init(in root: URL?) { self.root = root }

    /// Creates the key if it's missing. If it can't be created, the next push tries again.
    func prepare() {
        guard let root, let file, access(file.path(percentEncoded: false), F_OK) != 0 else { return }
        try? FileProtection.always.ensureFolder(root)
        var key = [UInt8](repeating: 0, count: Self.keyByteCount)
        key.withUnsafeMutableBytes { SecureRandom.fill($0) }
        _ = try? DurableFiles.create(file, holding: key, staging: root)
        DurableFiles.removeUnfinished(in: root, untouchedFor: 86_400)
        wipe(&key)
    }

    /// Returns the members with their proof; unchanged without a key.
    func adding(to members: [String: Any]) -> [String: Any] {
        var members = members
        members[Self.member] = proof(of: members).map { Base64URL.encode($0) }
        return members
    }

    /// Whether the members have a proof of this device's.
    func isValid(_ members: [String: Any]) -> Bool {
        var rest = members
        guard let text = rest.removeValue(forKey: Self.member) as? String, let given = Base64URL.decode(text.utf8),
            let proof = proof(of: rest)
        else { return false }
        return ConstantTime.areEqual(given, proof)
    }

    private func proof(of members: [String: Any]) -> [UInt8]? {
        guard let file, let value = Self.json(members),
            var key = try? DurableFiles.read(file, limit: Self.keyByteCount + 1)
        else { return nil }
        defer { wipe(&key) }
        guard key.count == Self.keyByteCount else { return nil }
        let bytes = Array("sealedpush/v1 user info\0".utf8) + value.bytes
        return key.withUnsafeBytes { BLAKE2b.hash(bytes, key: $0, byteCount: 32) }
    }

    /// Returns JSON in which members are sorted by name; nil for values that aren't ours.
    private static func json(_ members: [String: Any]) -> JSONValue? {
        var values: [String: JSONValue] = [:]
        for (name, value) in members {
            switch value {
            case let text as String: values[name] = .string(text)
            case let number as Int: values[name] = .integer(Int64(number))
            case let texts as [String: String]: values[name] = .object(texts.mapValues(JSONValue.string))
            default: return nil
            }
        }
        return .object(values)
    }

    private var file: URL? { root?.appending(path: "notifications.key") }

    private static let member = "proof"
    private static let keyByteCount = 32
}
