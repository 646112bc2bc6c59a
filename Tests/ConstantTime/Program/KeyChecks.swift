import Foundation
import PushKeyring
import SealedPush

/// Keys as text, and in a sealed keyring.
enum KeyChecks {
    static let all = [
        Check("a device's key, read and written") { try check(DevicePrivateKey()) },
        Check("a sender's key, read and written") { try check(SenderPrivateKey()) },
        Check("an authority's key, read and written") { try check(AuthorityPrivateKey()) },
        Check("an enrollment key, read and written") { try check(EnrollmentPrivateKey()) },
        Check("a keyring's key, read and written") {
            let text = KeyringKey().withText { Array($0) }
            let key = try KeyringKey(parsing: hidden(text).array)
            let written = key.withText { Array($0) }
            publish(written)
            try require(written == text)
        },
        Check("a sealed keyring, unlocked with a key") {
            let folder = URL(filePath: "\(FileManager.default.temporaryDirectory.path)/\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let key = KeyringKey()
            let name: KeyName = "newsroom"
            let made = Keyring(folder: folder)
            _ = try made.generateSender(named: name)
            try made.seal(with: .key(key))

            let text = key.withText { Array($0) }
            let again = try KeyringKey(parsing: hidden(text).array)
            let keyring = Keyring(folder: folder, unlocking: .given(.key(again)))
            let sender = try keyring.senderKey(named: name)
            publish(fieldsOf: sender)
            publish(sender.publicKey.bytes)
        },
    ]

    private static func check<Role>(_ key: PrivateKey<Role>) throws {
        let text = key.withSecretText { Array($0) }
        let read = try PrivateKey<Role>(parsing: hidden(text).bytes)
        publish(fieldsOf: read)
        publish(read.publicKey.bytes)
        try require(read.publicKey == key.publicKey)
        let written = read.withSecretText { Array($0) }
        publish(written)
        try require(written == text)
    }

    /// A secret's text, of which the beginning says no more than which kind it is.
    static func hidden(_ text: [UInt8]) -> Hidden {
        Hidden(text, known: (text.lastIndex(of: UInt8(ascii: "1")) ?? -1) + 1)
    }
}
