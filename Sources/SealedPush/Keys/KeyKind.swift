import PushCrypto

/// The kinds of keys, each with the text it begins with. Source: Specification 8.
enum KeyKind: String {
    case recipient = "push"
    case sender = "pushsender"
    case identity = "push-secret-key-"
    case senderKey = "push-sender-secret-key-"
    case authority = "pushauthority"
    case enrolment = "pushenrolment"
    case authorityKey = "push-authority-secret-key-"
    case enrolmentKey = "push-enrolment-secret-key-"

    /// The text of a public key of this kind.
    func text(of key: some RawPublicKey) -> String {
        let text = key.withBytes { Bech32.encode($0, prefix: rawValue, inCapitals: false) }
        return text.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// The public key of this kind that a text stands for.
    func publicKey<Key: RawPublicKey>(parsing text: String) throws(KeyTextError) -> Key {
        let characters = Array(text.utf8)
        let decoded = characters.withUnsafeBytes { bytes -> Result<Key, KeyTextError> in
            Result { () throws(KeyTextError) in
                let key = try Bech32.decode(bytes, prefix: rawValue, capitals: .allowed)
                guard let key = key.withBytes({ try? Key($0) }) else { throw .unsafeKey }
                return key
            }
        }
        return try decoded.get()
    }

    /// Lends the text of a secret key of this kind, as ASCII; it is wiped afterwards.
    func withText<Answer: ~Copyable, Failure: Error>(
        of key: borrowing some RawSecretKey & ~Copyable, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let text = key.withBytes { Bech32.encode($0, prefix: rawValue, inCapitals: true) }
        return try text.withBytes(body)
    }

    /// The secret key of this kind that a text stands for.
    func secretKey<Key: RawSecretKey & ~Copyable>(parsing text: UnsafeRawBufferPointer) throws(KeyTextError) -> Key {
        let bytes = try Bech32.decode(text, prefix: rawValue, capitals: .required)
        return try bytes.withBytes { (bytes) throws(KeyTextError) in
            do { return try Key(copying: bytes) } catch { throw .wrongLength }
        }
    }
}

/// What the public keys of both curves have in common: 32 bytes that were checked.
protocol RawPublicKey {
    init(_ bytes: UnsafeRawBufferPointer) throws
    func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result
}

/// What the secret keys of both curves have in common: any 32 bytes.
protocol RawSecretKey: ~Copyable {
    init(copying bytes: UnsafeRawBufferPointer) throws
    func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result
}

extension X25519PublicKey: RawPublicKey {}
extension Ed25519PublicKey: RawPublicKey {}
extension X25519SecretKey: RawSecretKey {}
extension Ed25519SecretKey: RawSecretKey {}
