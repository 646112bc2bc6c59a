import Foundation
import FuzzSupport
import PushKeyring

@testable import SealedPush

/// A valid keyring with which each input's folder begins, unsealed or sealed under a key.
struct GoodKeyring {
    let files: [String: [UInt8]]
    let entries: [KeyName: KeyringEntry]
    let trusted: [String]
    /// The key under which it is sealed.
    let key: KeyringKey?
    /// The keys of `entries` again. An `AnyPublicKey` stores its type in its pointer's upper bits, so the leak checker
    /// doesn't recognize that as a pointer.
    private let senders: [SenderPublicKey]
    private let authorities: [AuthorityPublicKey]

    static let topic: Topic = "com.example.app"
    static let now = Timestamp(clamping: 1_760_100_000)
    static let folder = RawFolder(target: "sealed-push-fuzz-keyring")
    static let url = folder.url

    static let clear = GoodKeyring(under: nil)
    static let sealed = GoodKeyring(under: KeyringKey())

    /// The keyring in the folder, with the key that opens it.
    var keyring: Keyring { Keyring(folder: Self.url, unlocking: key.map { .given(.key($0)) }) }

    private init(under key: KeyringKey?) {
        self.key = key
        Self.folder.lay([:])
        let keyring = Keyring(folder: Self.url, unlocking: key.map { .given(.key($0)) })
        do {
            try Self.fill(keyring)
            entries = Dictionary(uniqueKeysWithValues: try keyring.entries().keys.map { ($0.name, $0) })
            let keys = entries.values.flatMap { $0.keys.map(\.key) }
            senders = keys.compactMap { if case .sender(let key) = $0 { key } else { nil } }
            authorities = keys.compactMap { if case .authority(let key) = $0 { key } else { nil } }
            trusted = try keyring.trustList().words
        } catch { fatalError("the good keyring can't be created: \(error)") }
        files = ["keyring.txt", "audit.jsonl"].reduce(into: [:]) { $0[$1] = Self.folder.bytes(of: $1) }
    }

    private static func fill(_ keyring: Keyring) throws {
        let start = Timestamp(clamping: 1_760_000_000)
        let later = Timestamp(clamping: 1_760_000_010)
        try keyring.generateDevice(named: "phone", topic: topic, at: start)
        try keyring.rotate("phone", at: later)
        try keyring.generateDevice(named: "watch", policy: .hybrid, at: start)
        try keyring.rotate("watch", at: later)
        try keyring.confirm("watch", at: later)
        let sender = try keyring.generateSender(named: "newsroom", at: start)
        try keyring.rotate("newsroom", at: later)
        let authority = try keyring.generateAuthority(named: "root", at: start)
        let set = try keyring.signSenderSet(of: [sender], topic: topic, by: "root", lifetime: 86_400 * 365, at: start)
        try keyring.trust(.sender(sender), for: topic, at: start)
        try keyring.trust(.authority(authority), for: topic, at: start)
        try keyring.trust(.senderSet(set), for: topic, at: start)
        try keyring.add(.device(DevicePrivateKey().recipient), named: "pal", at: start)
        try addFriend(keyring, sender: sender, at: start)
    }

    /// Adds someone else's device, which proves that it has its key.
    private static func addFriend(_ keyring: Keyring, sender: SenderPublicKey, at start: Timestamp) throws {
        let identity = DevicePrivateKey()
        let enrollment = EnrollmentPrivateKey()
        let record = try DeviceRecord(
            of: [identity.recipient], topic: topic, counter: 1, created: start,
            expires: start.advanced(bySeconds: 86_400 * 365), signedBy: enrollment)
        try keyring.add(record, named: "friend", at: start)
        let challenge = try keyring.challenge("friend", from: "newsroom", at: start)
        let answer = try Challenge.answer(
            challenge.text, enrollment: enrollment.enrollment, topic: topic,
            keys: InMemoryKeyStore([DeviceKey(identity, life: KeyLife(created: start))]), trusting: [sender])
        _ = try keyring.acceptAnswer(answer, of: "friend", at: start)
    }
}

extension TrustList {
    /// The list's contents. As text, since a tagged pointer to a stored list looks like a leak.
    var words: [String] {
        entries.map { entry in
            let trusted =
                switch entry.trusted {
                case .sender(let sender): sender.description
                case .authority(let authority): authority.description
                case .senderSet(let set): set.description
                }
            return "\(entry.topic) \(trusted) \(entry.added.secondsSince1970)"
        }
    }
}
