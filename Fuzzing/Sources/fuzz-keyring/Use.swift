import Foundation
import FuzzSupport
import PushKeyring
import SealedPush

/// What comes of using a name for everything that a name may be used for.
struct Use {
    private let recipient: VerifiedRecipient?
    private let unverified: Recipient?
    private let sender: Sender?
    private let senderKey: SenderKey?
    private let senders: [Sender]?
    private let deviceKeys: [DeviceKey]?

    init(of name: KeyName, in keyring: Keyring) {
        let now = GoodKeyring.now
        recipient = answer { () throws(KeyringError) in try keyring.recipient(named: name, at: now) }
        unverified = answer { () throws(KeyringError) in try keyring.unverifiedRecipient(named: name) }
        sender = answer { () throws(KeyringError) in try keyring.sender(named: name) }
        senderKey = answer { () throws(KeyringError) in try keyring.senderKey(named: name) }
        senders = answer { () throws(KeyringError) in try keyring.activeSenders(named: name) }
        deviceKeys = answer { () throws(KeyringError) in try keyring.deviceKeys(named: name) }
        demand(senderKey == nil || senderKey?.sender == sender, "the sender's secret is another's")
    }

    var isRefused: Bool {
        recipient == nil && unverified == nil && sender == nil && senderKey == nil && senders == nil
            && deviceKeys == nil
    }

    func isGood(for entry: KeyringEntry) -> Bool {
        let active = entry.keys.filter { $0.life.state == .active }.map(\.key)
        switch entry.kind {
        case .device:
            let isProven = entry.isOwn || entry.keys[0].life.confirmed != nil
            return unverified.map(AnyPublicKey.device) == active.first && sender == nil && senderKey == nil
                && recipient.map { .device($0.recipient) } == (isProven ? active.first : nil)
                && deviceKeys?.map { .device($0.identity.recipient) }
                    == (entry.isOwn ? entry.keys.filter(\.life.opens).map(\.key) : nil)
        case .sender:
            return sender.map(AnyPublicKey.sender) == entry.key && senderKey != nil
                && senders?.map(AnyPublicKey.sender) == active && recipient == nil && deviceKeys == nil
        case .authority: return isRefused
        }
    }
}

/// Nil where it throws; the error is one that may be shown.
func answer<Answer>(_ call: () throws(KeyringError) -> Answer) -> Answer? {
    do {
        return try call()
    } catch {
        checkError(error)
        return nil
    }
}

/// An error holds names and paths of the keyring, and the system's words; nothing that stands in a file.
func checkError(_ error: KeyringError) {
    demand(!error.description.isEmpty, "an error without words")
    switch error {
    case .exists(let name), .notFound(let name), .wrongKind(let name, _), .noSecret(let name), .notUsable(let name, _),
        .unconfirmed(let name), .nothingToConfirm(let name), .unverified(let name), .enrolled(let name):
        demand(names.contains(name.description), "an error about a name that nobody asked for")
    case .record, .challenge, .wrongSecret, .needsSecret, .backup: break
    case .damaged(let file), .altered(let file), .notSealed(let file), .sealMissing(let file): checkPath(file)
    case .sealChanged: fatalError("no seal was seen before")
    case .file(let file, let message):
        checkPath(file)
        demand(messages.contains(message), "an error with words of its own: \(message)")
    case .busy: fatalError("nobody else changes the keyring")
    case .outOfMemory: fatalError("no passphrase is asked for")
    }
}

private func checkPath(_ file: URL) {
    let path = file.path(percentEncoded: false)
    demand(path.hasPrefix(GoodKeyring.folder.path), "an error about \(path)")
    let rest = path.dropFirst(GoodKeyring.folder.path.count).drop { $0 == "/" }
    demand(paths.contains(String(rest)), "an error about \(path)")
}

private let names: Set<String> = [
    "phone", "watch", "newsroom", "root", "friend", "pal", "other", "nobody", "fresh", "renamed",
]
private let paths = Set(LaidFile.paths + ["", "private/watch.txt", "lock", "private/other.txt"])
private let messages = Set((1...133).map { String(cString: strerror($0)) }).union([
    "this is no regular file", "it is missing, and the secrets here are sealed: restore it from a backup",
    "it would have more than 262144 bytes",
])
