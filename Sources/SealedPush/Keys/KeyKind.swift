import PushCrypto

/// The kinds of keys, each with the text it begins with. Source: Specification 8.
enum KeyKind: String {
    case recipient = "push"
    case sender = "pushsender"
    case identity = "push-secret-key-"
    case senderKey = "push-sender-secret-key-"

    /// The text of a public key of this kind.
    func text(of key: X25519PublicKey) -> String {
        let text = key.withBytes { Bech32.encode($0, prefix: rawValue, inCapitals: false) }
        return text.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// The public key of this kind that a text stands for.
    func publicKey(parsing text: String) throws(KeyTextError) -> X25519PublicKey {
        let characters = Array(text.utf8)
        let decoded = characters.withUnsafeBytes { bytes -> Result<X25519PublicKey, KeyTextError> in
            Result { () throws(KeyTextError) in
                let key = try Bech32.decode(bytes, prefix: rawValue, capitals: .allowed)
                guard let key = key.withBytes({ try? X25519PublicKey($0) }) else { throw .unsafeKey }
                return key
            }
        }
        return try decoded.get()
    }

    /// Lends the text of a secret key of this kind, as ASCII; it is wiped afterwards.
    func withText<Answer, Failure: Error>(
        of key: borrowing X25519SecretKey, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let text = key.withBytes { Bech32.encode($0, prefix: rawValue, inCapitals: true) }
        return try text.withBytes(body)
    }

    /// The secret key of this kind that a text stands for.
    func secretKey(parsing text: UnsafeRawBufferPointer) throws(KeyTextError) -> X25519SecretKey {
        let bytes = try Bech32.decode(text, prefix: rawValue, capitals: .required)
        return try bytes.withBytes { (bytes) throws(KeyTextError) in
            do { return try X25519SecretKey(copying: bytes) } catch { throw .wrongLength }
        }
    }
    /// The same from an array: through scratch memory, since an array may not lend its bytes to what throws.
    func secretKey(parsing text: [UInt8]) throws(KeyTextError) -> X25519SecretKey {
        guard !text.isEmpty else { throw .notAKey }
        let scratch = WipedBytes(count: text.count) { $0.copyBytes(from: text) }
        return try scratch.withBytes { (bytes) throws(KeyTextError) in try secretKey(parsing: bytes) }
    }
}
