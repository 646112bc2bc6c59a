internal import PushCrypto
internal import SealedPush

/// A secret key's text while a keyring's file is read or written: wiped with the last reference, never printed.
final class SecretText: Sendable {
    private let bytes: GuardedSecret

    init(copying text: UnsafeRawBufferPointer) {
        bytes = GuardedSecret(count: text.count) { $0.copyMemory(from: text) }
    }

    static func of(_ key: SecretKey<some KeyRole>) -> SecretText { key.withSecretText { SecretText(copying: $0) } }

    func withBytes<Answer>(_ body: (UnsafeRawBufferPointer) -> Answer) -> Answer { bytes.withBytes(body) }

    var identity: Identity? { withBytes { try? Identity(parsing: $0) } }
    var senderKey: SenderKey? { withBytes { try? SenderKey(parsing: $0) } }
    var authorityKey: AuthorityKey? { withBytes { try? AuthorityKey(parsing: $0) } }
    var enrolmentKey: EnrolmentKey? { withBytes { try? EnrolmentKey(parsing: $0) } }

    /// The public key that belongs to it, if it is the secret of a kind that has a name of its own.
    func publicKey(of kind: AnyPublicKey.Kind) -> AnyPublicKey? {
        switch kind {
        case .device: identity.map { .device($0.recipient) }
        case .sender: senderKey.map { .sender($0.sender) }
        case .authority: authorityKey.map { .authority($0.authority) }
        }
    }
}

/// A secret as it stands in a file.
enum StoredSecret: Sendable {
    case open(SecretText)
    /// Sealed, and the keyring is not unlocked: only known to be there.
    case sealed
}
