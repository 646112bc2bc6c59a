/// The purpose of a type of key. Only the library's own four roles conform. Source: Specification 8.
public protocol KeyRole: Sendable {
    /// The role as a value.
    static var kind: KeyKind { get }
}

/// The roles as values.
public enum KeyKind: Sendable, CaseIterable {
    /// Messages are sealed to it, and it opens them.
    case device
    /// It seals messages and proves who sealed them.
    case sender
    /// It signs an app's senders.
    case authority
    /// It signs a device's keys.
    case enrollment
}

/// A role whose keys sign: Ed25519.
public protocol SigningRole: KeyRole {}
/// A role whose keys an app may include as text in its source.
public protocol TrustedRole: KeyRole {}
/// A role whose keys are published in a ``SignedList``.
public protocol ListedRole: KeyRole {
    /// The role of the keys that sign the list.
    associatedtype Signer: SigningRole
}

/// Device keys: messages are sealed to them, and they open messages.
public enum DeviceRole: ListedRole {
    public typealias Signer = EnrollmentRole
    public static let kind = KeyKind.device
}

/// Sender keys: they seal messages and prove who sealed them.
public enum SenderRole: ListedRole, TrustedRole {
    public typealias Signer = AuthorityRole
    public static let kind = KeyKind.sender
}

/// Authority keys: they sign an app's senders.
public enum AuthorityRole: SigningRole, TrustedRole { public static let kind = KeyKind.authority }
/// Enrollment keys: they sign a device's keys.
public enum EnrollmentRole: SigningRole { public static let kind = KeyKind.enrollment }

/// The public half of a device's key, to which messages are sealed. Its text begins with `push1` and has 63 characters,
/// or with `pushpq.` and has 1,634 if the key is hybrid.
///
/// Accept one only from a source that the app trusts: anyone who substitutes their own key can read everything that is sealed
/// to it. Its ``PublicKey/keyID`` never travels with a push.
public typealias DevicePublicKey = PublicKey<DeviceRole>

/// The public half of a sender's key. Its text begins with `pushsender1` and has 69 characters.
///
/// A device trusts only the senders that its app names.
public typealias SenderPublicKey = PublicKey<SenderRole>

/// The public half of an app's authority, whose ``SenderSet`` a device trusts. Its text begins with `pushauthority1` and has
/// 72 characters.
///
/// Compiled into the app, so that a sender's key can be replaced without updating the app.
public typealias AuthorityPublicKey = PublicKey<AuthorityRole>

/// The public half of a device's enrollment key, whose ``DeviceRecord`` a server trusts. Its text begins with
/// `pushenrollment1` and has 73 characters.
///
/// A server pins it to an account and a device within the app's own login.
public typealias EnrollmentPublicKey = PublicKey<EnrollmentRole>

/// The private half of a device's key, which opens messages. Its text begins with `PUSH-SECRET-KEY-1`
/// or, if it is hybrid, `PUSH-PQ-SECRET-KEY-1`.
public typealias DevicePrivateKey = PrivateKey<DeviceRole>

/// A sender's secret key, which seals messages and proves who sealed them. Its text begins with `PUSH-SENDER-SECRET-KEY-1`.
public typealias SenderPrivateKey = PrivateKey<SenderRole>

/// An app's authority, which signs its ``SenderSet``. Its text begins with `PUSH-AUTHORITY-SECRET-KEY-1`.
///
/// Keep it on an offline machine: its holder determines the senders that every device of the app trusts.
public typealias AuthorityPrivateKey = PrivateKey<AuthorityRole>

/// A device's enrollment key, which signs its ``DeviceRecord``. Its text begins with `PUSH-ENROLLMENT-SECRET-KEY-1`.
///
/// A device has one for each app and keeps it as long as the app is installed, while its other keys change.
public typealias EnrollmentPrivateKey = PrivateKey<EnrollmentRole>

// Each type's name for the public half.
extension DevicePrivateKey {
    /// The public key that messages are sealed to.
    public var recipient: DevicePublicKey { publicKey }
}
extension SenderPrivateKey {
    /// The public key that devices trust.
    public var sender: SenderPublicKey { publicKey }
}
extension AuthorityPrivateKey {
    /// The public key that verifies sender sets.
    public var authority: AuthorityPublicKey { publicKey }
}
extension EnrollmentPrivateKey {
    /// The public key that verifies the device's records.
    public var enrollment: EnrollmentPublicKey { publicKey }
}

extension KeyKind {
    /// The names under which the public and the secret half of such a key are shown.
    var names: (publicKey: String, secretKey: String) {
        switch self {
        case .device: ("recipient", "Identity")
        case .sender: ("sender", "SenderKey")
        case .authority: ("authority", "AuthorityKey")
        case .enrollment: ("enrollment", "EnrollmentKey")
        }
    }

    /// The word in the text of its keys between `push` and the algorithm's label.
    private var word: String { self == .device ? "" : names.publicKey }

    /// Returns the start of a public key's text, before the `1` or the dot. Source: Specification 8.1.
    func prefix(_ algorithm: KeyAlgorithm) -> String { "push\(word)\(algorithm.label)" }

    /// Returns the start of a secret key's text, in lowercase.
    func secretPrefix(_ algorithm: KeyAlgorithm) -> String {
        ["push", word, "\(algorithm.label)", "secret-key-"].filter { !$0.isEmpty }.joined(separator: "-")
    }

    /// The algorithms that its keys may have, the one for new keys first.
    var algorithms: [KeyAlgorithm] {
        switch self {
        case .device: Self.deviceAlgorithms
        case .sender: Self.senderAlgorithms
        case .authority, .enrollment: [.ed25519]
        }
    }

    private static let deviceAlgorithms = distinct(Envelope.Suite.allCases.map(\.recipientKeys))
    private static let senderAlgorithms = distinct(Envelope.Suite.allCases.compactMap(\.senderKeys))

    private static func distinct(_ algorithms: [KeyAlgorithm]) -> [KeyAlgorithm] {
        var seen: Set<KeyAlgorithm> = []
        return algorithms.filter { seen.insert($0).inserted }
    }

    /// Returns the form of a secret key's text.
    func secretForm(_ algorithm: KeyAlgorithm) -> Bech32.Form {
        Bech32.Form(secretPrefix(algorithm), byteCount: algorithm.secretByteCount, inCapitals: true)
    }

    /// Returns the form of a public key's text in Bech32.
    func form(_ algorithm: KeyAlgorithm) -> Bech32.Form {
        Bech32.Form(prefix(algorithm), byteCount: algorithm.publicByteCount)
    }

    /// Returns the form of the text of a public key that is too long for Bech32, or nil. Source: Specification 8.8.
    func armor(_ algorithm: KeyAlgorithm) -> ArmoredText? {
        guard form(algorithm).characterCount > Bech32.maximumCharacterCount else { return nil }
        let byteCount = algorithm.publicByteCount + ArmoredText.checksumByteCount
        return ArmoredText(prefix: prefix(algorithm) + ".", byteCounts: byteCount...byteCount)
    }

    /// The maximum number of characters in any key's text.
    package static var maximumCharacterCount: Int {
        let armors = allCases.flatMap { kind in kind.algorithms.compactMap(kind.armor) }
        return max(Bech32.maximumCharacterCount, armors.map(\.characterCounts.upperBound).max() ?? 0)
    }
}
