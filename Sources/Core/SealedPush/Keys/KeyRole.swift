/// What the keys of a kind are for. The library's own four roles conform, and no others. Source: Specification 8.
public protocol KeyRole: Sendable {
    /// The same as a value.
    static var kind: KeyKind { get }
}

/// The roles as values.
public enum KeyKind: Sendable, CaseIterable {
    /// What one seals to, and what opens.
    case device
    /// What seals, and proves who sealed.
    case sender
    /// What signs an app's senders.
    case authority
    /// What signs a device's keys.
    case enrollment
}

/// A role whose keys sign: Ed25519.
public protocol SigningRole: KeyRole {}
/// A role whose keys an app may have built in, as text in its source.
public protocol TrustedRole: KeyRole {}
/// A role whose keys are made known by a ``SignedList``.
public protocol ListedRole: KeyRole {
    /// Who signs it.
    associatedtype Signer: SigningRole
}

/// A device's keys: what one seals to, and what opens.
public enum DeviceRole: ListedRole {
    public typealias Signer = EnrollmentRole
    public static let kind = KeyKind.device
}

/// A sender's keys: what seals, and proves who sealed.
public enum SenderRole: ListedRole, TrustedRole {
    public typealias Signer = AuthorityRole
    public static let kind = KeyKind.sender
}

/// An app's authority: what signs its senders.
public enum AuthorityRole: SigningRole, TrustedRole { public static let kind = KeyKind.authority }
/// A device's enrollment key: what signs its keys.
public enum EnrollmentRole: SigningRole { public static let kind = KeyKind.enrollment }

/// The public half of a device's key: what one seals to. Its text begins with `push1` and has 63 characters.
///
/// To be believed only from a source that the app trusts, for whoever puts in a recipient of their own reads what is
/// sealed to it. Its ``PublicKey/keyID`` is the hint that travels with each envelope.
public typealias DevicePublicKey = PublicKey<DeviceRole>

/// The public half of a sender's key: whom a device believes. Its text begins with `pushsender1` and has 69 characters.
///
/// A device trusts the senders that its app names and no others.
public typealias SenderPublicKey = PublicKey<SenderRole>

/// The public half of an app's authority: whose ``SenderSet`` a device believes. Its text begins with `pushauthority1`
/// and has 72 characters.
///
/// Compiled into the app, so that a sender's key can be replaced without an update of the app.
public typealias AuthorityPublicKey = PublicKey<AuthorityRole>

/// The public half of a device's enrollment key: whose ``DeviceRecord`` a server believes. Its text begins with
/// `pushenrollment1` and has 73 characters.
///
/// A server pins it to an account and a device inside the app's own login.
public typealias EnrollmentPublicKey = PublicKey<EnrollmentRole>

/// The private half of a device's key: what opens. Its text begins with `PUSH-SECRET-KEY-1`.
public typealias DevicePrivateKey = PrivateKey<DeviceRole>

/// A sender's secret key: what seals, and proves who sealed. Its text begins with `PUSH-SENDER-SECRET-KEY-1`.
public typealias SenderPrivateKey = PrivateKey<SenderRole>

/// An app's authority: what signs its ``SenderSet``. Its text begins with `PUSH-AUTHORITY-SECRET-KEY-1`.
///
/// Belongs on a machine that is not connected to the network: whoever has it names the senders that every device of
/// the app believes.
public typealias AuthorityPrivateKey = PrivateKey<AuthorityRole>

/// A device's enrollment key: what signs its ``DeviceRecord``. Its text begins with `PUSH-ENROLLMENT-SECRET-KEY-1`.
///
/// A device has one for each app and keeps it for as long as the app is installed there, while its other keys change.
public typealias EnrollmentPrivateKey = PrivateKey<EnrollmentRole>

// The public half by the name that its kind has.
extension DevicePrivateKey { public var recipient: DevicePublicKey { publicKey } }
extension SenderPrivateKey { public var sender: SenderPublicKey { publicKey } }
extension AuthorityPrivateKey { public var authority: AuthorityPublicKey { publicKey } }
extension EnrollmentPrivateKey { public var enrollment: EnrollmentPublicKey { publicKey } }

extension KeyKind {
    /// What a key of this kind is called where its public half is shown, and its secret half.
    var names: (publicKey: String, secretKey: String) {
        switch self {
        case .device: ("recipient", "Identity")
        case .sender: ("sender", "SenderKey")
        case .authority: ("authority", "AuthorityKey")
        case .enrollment: ("enrollment", "EnrollmentKey")
        }
    }

    /// What the text of its keys has between `push` and what the algorithm adds.
    private var word: String { self == .device ? "" : names.publicKey }

    /// How the text of a public key begins, before the `1`. Source: Specification 8.1.
    func prefix(_ algorithm: KeyAlgorithm) -> String { "push\(word)\(algorithm.label)" }

    /// The same of a secret key, in small letters.
    func secretPrefix(_ algorithm: KeyAlgorithm) -> String {
        ["push", word, "\(algorithm.label)", "secret-key-"].filter { !$0.isEmpty }.joined(separator: "-")
    }

    /// The algorithms that its keys may have, the one of new keys first.
    var algorithms: [KeyAlgorithm] {
        switch self {
        case .device: Self.distinct(Envelope.Suite.known.map(\.recipientKeys))
        case .sender: Self.distinct(Envelope.Suite.known.compactMap(\.senderKeys))
        case .authority, .enrollment: [.ed25519]
        }
    }

    private static func distinct(_ algorithms: [KeyAlgorithm]) -> [KeyAlgorithm] {
        var seen: Set<KeyAlgorithm> = []
        return algorithms.filter { seen.insert($0).inserted }
    }

    /// The forms that a key's text may have.
    func forms(isSecret: Bool) -> [Bech32.Form] {
        algorithms.map { algorithm in
            isSecret
                ? Bech32.Form(secretPrefix(algorithm), byteCount: algorithm.secretByteCount, inCapitals: true)
                : Bech32.Form(prefix(algorithm), byteCount: algorithm.publicByteCount)
        }
    }

    /// The most characters that any key's text has.
    package static var maximumCharacterCount: Int {
        let forms = allCases.flatMap { $0.forms(isSecret: false) + $0.forms(isSecret: true) }
        return max(Bech32.usualCharacterCount, forms.map(\.characterCount).max() ?? 0)
    }
}
