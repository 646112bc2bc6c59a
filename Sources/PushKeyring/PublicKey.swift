public import SealedPush

/// A public key of either kind.
public enum PublicKey: Hashable, Sendable, CustomStringConvertible {
    case device(Recipient)
    case sender(Sender)

    /// What its owner does with the secret half.
    public enum Kind: String, Sendable {
        case device
        case sender
    }

    /// Reads `push1…` or `pushsender1…`.
    public init(parsing text: String) throws(KeyTextError) {
        do {
            self = .device(try Recipient(parsing: text))
        } catch {
            guard error == .wrongKind else { throw error }
            self = .sender(try Sender(parsing: text))
        }
    }

    public var kind: Kind {
        switch self {
        case .device: .device
        case .sender: .sender
        }
    }

    public var keyID: KeyID {
        switch self {
        case .device(let recipient): recipient.keyID
        case .sender(let sender): sender.keyID
        }
    }

    /// The key's text.
    public var description: String {
        switch self {
        case .device(let recipient): recipient.description
        case .sender(let sender): sender.description
        }
    }
}

/// What anyone may know about a key in the keyring.
public struct KeyringEntry: Hashable, Sendable {
    public let name: KeyName
    public let key: PublicKey
    public let created: Timestamp
    /// Whether the secret half is here too.
    public let hasSecret: Bool
}
