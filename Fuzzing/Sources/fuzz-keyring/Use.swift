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
