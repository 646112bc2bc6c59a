public import SealedPush

/// A public key of any kind that a keyring keeps under a name.
public enum AnyPublicKey: Hashable, Sendable, CustomStringConvertible {
    case device(DevicePublicKey)
    case sender(SenderPublicKey)
    case authority(AuthorityPublicKey)

    /// What its owner does with the secret half.
    public enum Kind: String, Sendable, CaseIterable {
        /// Opens messages.
        case device
        /// Seals them.
        case sender
        /// Signs for an app's senders.
        case authority
    }

    /// Reads `push1…`, `pushsender1…` or `pushauthority1…`.
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

    public var kind: Kind {
        switch self {
        case .device: .device
        case .sender: .sender
        case .authority: .authority
        }
    }

    public var keyID: KeyID {
        switch self {
        case .device(let recipient): recipient.keyID
        case .sender(let sender): sender.keyID
        case .authority(let authority): authority.keyID
        }
    }

    /// To compare with what its owner sees.
    public var fingerprint: Fingerprint {
        switch self {
        case .device(let recipient): Fingerprint(of: recipient)
        case .sender(let sender): Fingerprint(of: sender)
        case .authority(let authority): Fingerprint(of: authority)
        }
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

/// The roles whose keys have a name in a keyring.
protocol NamedRole: KeyRole { static func named(_ key: PublicKey<Self>) -> AnyPublicKey }

extension DeviceRole: NamedRole { static func named(_ key: DevicePublicKey) -> AnyPublicKey { .device(key) } }
extension SenderRole: NamedRole { static func named(_ key: SenderPublicKey) -> AnyPublicKey { .sender(key) } }
extension AuthorityRole: NamedRole { static func named(_ key: AuthorityPublicKey) -> AnyPublicKey { .authority(key) } }
