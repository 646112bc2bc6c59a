import FuzzSupport

@testable import SealedPush

/// Fixed parties. The third recipient and sender are strangers, the second recipient is retired, and the fourth is hybrid.
enum Parties {
    static let identities = (1...4).map {
        key($0 == 4 ? "push-pq-secret-key-" : "push-secret-key-", seed($0), DevicePrivateKey.init(parsing:))
    }
    static let recipients = identities.map(\.recipient)
    static let senderKeys = (11...13).map { key("push-sender-secret-key-", seed($0), SenderPrivateKey.init(parsing:)) }
    static let senders = senderKeys.map(\.sender)
    /// Two devices, and two authorities with the same bytes.
    static let signerSeeds = [seed(21), seed(22)]
    static let signers = signerSeeds.map(RawSigning.publicKey)
    static let enrollmentKeys = signerSeeds.map {
        key("push-enrollment-secret-key-", $0, EnrollmentPrivateKey.init(parsing:))
    }
    static let enrollments = enrollmentKeys.map(\.enrollment)
    static let authorityKeys = signerSeeds.map {
        key("push-authority-secret-key-", $0, AuthorityPrivateKey.init(parsing:))
    }
    static let topics: [Topic] = ["com.example.app", "com.example.app2"]
    static let now = Timestamp(clamping: 1_760_000_000)

    /// The device's own keys: those of the first and last recipient are active, and that of the second is retired.
    static let store = InMemoryKeyStore(
        [0, 1, 3].map { index in
            var life = KeyLife(created: Timestamp(clamping: Int64(index)))
            if index == 1 { life.retire(at: now) }
            return DeviceKey(identities[index], life: life)
        })

    private static func seed(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 32) }

    private static func key<Key>(
        _ prefix: String, _ bytes: [UInt8], _ parse: (String) throws(KeyTextError) -> Key
    ) -> Key {
        let text = Bech32Rule.text(prefix: prefix, groups: Bech32Rule.groups(bytes)).uppercased()
        return required { try parse(text) }
    }
}
