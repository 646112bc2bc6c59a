public import SealedPush

/// A public key of any kind that a keyring stores under a name.
public enum AnyPublicKey: Hashable, Sendable, CustomStringConvertible {
    /// A device's key, to which messages are sealed.
    case device(DevicePublicKey)
    /// A sender's key, which devices trust.
    case sender(SenderPublicKey)
    /// An authority's key, which apps have built in.
    case authority(AuthorityPublicKey)

    /// The purpose of the secret half.
    public enum Kind: String, Sendable, CaseIterable {
        /// Opens messages.
        case device
        /// Seals messages.
        case sender
        /// Signs an app's sender sets.
        case authority
    }

    /// Parses `push1…`, `pushpq.…`, `pushsender1…`, or `pushauthority1…`.
    public init(parsing text: String) throws(KeyTextError) {
        do {
            self = .device(try DevicePublicKey(parsing: text))
            return
        } catch { guard error == .wrongKind else { throw error } }
        do {
            self = .sender(try SenderPublicKey(parsing: text))
            return
        } catch { guard error == .wrongKind else { throw error } }
        self = .authority(try AuthorityPublicKey(parsing: text))
    }

    /// The purpose of the secret half.
    public var kind: Kind {
        switch self {
        case .device: .device
        case .sender: .sender
        case .authority: .authority
        }
    }

    /// The short ID, for logs and lists.
    public var keyID: KeyID {
        switch self {
        case .device(let recipient): recipient.keyID
        case .sender(let sender): sender.keyID
        case .authority(let authority): authority.keyID
        }
    }

    /// The fingerprint to compare with the one that the owner sees.
    public var fingerprint: Fingerprint {
        switch self {
        case .device(let recipient): Fingerprint(of: recipient)
        case .sender(let sender): Fingerprint(of: sender)
        case .authority(let authority): Fingerprint(of: authority)
        }
    }

    var device: DevicePublicKey? {
        guard case .device(let recipient) = self else { return nil }
        return recipient
    }

    var sender: SenderPublicKey? {
        guard case .sender(let sender) = self else { return nil }
        return sender
    }

    /// The key's text.
    public var description: String {
        switch self {
        case .device(let recipient): recipient.description
        case .sender(let sender): sender.description
        case .authority(let authority): authority.description
        }
    }
}
