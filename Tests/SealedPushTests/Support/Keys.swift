@testable import PushCore
@testable import SealedPush

extension PrivateKey {
    /// The key of given bytes: the public interface reads text only.
    convenience init(secret: [UInt8]) throws {
        let prefix = Role.kind.secretPrefix(Role.kind.algorithms[0])
        try self.init(parsing: ReferenceBech32.encode(prefix, bytes: secret).uppercased())
    }

    var secretText: String { withSecretText { String(decoding: $0, as: UTF8.self) } }
    var secretBytes: [UInt8] { withBytes { Array($0) } }
}

/// Two secrets whose public keys have one key ID, 4bb899b5: found once by making the keys numbered 0 to 262,143 and
/// looking for equal IDs.
enum Twins {
    static let first = secret(45_721)
    static let second = secret(48_426)
    static let keyID = "4bb899b5"

    private static func secret(_ number: Int) -> [UInt8] {
        Array("sealed-push test key \(number)".utf8).withUnsafeBytes { SHA256.hash($0) }
    }
}
