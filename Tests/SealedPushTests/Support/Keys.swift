@testable import PushCrypto
@testable import SealedPush

extension SecretKey {
    /// The key of 32 given bytes, by the human-readable part of its kind.
    fileprivate init(_ prefix: String, secret: [UInt8]) throws {
        try self.init(parsing: ReferenceBech32.encode(prefix, bytes: secret).uppercased())
    }

    var secretText: String { withSecretText { String(decoding: $0, as: UTF8.self) } }
}

extension Identity {
    convenience init(secret: [UInt8]) throws { try self.init("push-secret-key-", secret: secret) }
    var secretBytes: [UInt8] { secretKey.withBytes { Array($0) } }
}

extension SenderKey {
    convenience init(secret: [UInt8]) throws { try self.init("push-sender-secret-key-", secret: secret) }
    var secretBytes: [UInt8] { secretKey.withBytes { Array($0) } }
}

extension AuthorityKey {
    convenience init(secret: [UInt8]) throws { try self.init("push-authority-secret-key-", secret: secret) }
    var secretBytes: [UInt8] { secretKey.withBytes { Array($0) } }
}

extension EnrolmentKey {
    convenience init(secret: [UInt8]) throws { try self.init("push-enrolment-secret-key-", secret: secret) }
    var secretBytes: [UInt8] { secretKey.withBytes { Array($0) } }
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
