/// A reason why a text isn't a key. Contains no part of the text, which may have been a secret.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum KeyTextError: String, Error, CaseIterable, Sendable {
    /// Longer than any key of its type; the limit is at least 90 characters.
    case tooLong = "too-long"
    /// White space before or after the key.
    case whiteSpace = "white-space"
    /// Uppercase and lowercase letters in one key.
    case mixedCase = "mixed-case"
    /// No `1` after the type of key.
    case notAKey = "not-a-key"
    /// Another type of key, or something else altogether.
    case wrongKind = "wrong-kind"
    /// A secret key that isn't uppercase.
    case notInCapitals = "not-in-capitals"
    /// Not the number of characters for its type.
    case wrongLength = "wrong-length"
    /// A character that the text of a key doesn't use.
    case wrongCharacter = "wrong-character"
    /// A typo: the checksum is wrong.
    case wrongChecksum = "wrong-checksum"
    /// The bytes aren't a safe public key (Specification 3.3, 8.6).
    case unsafeKey = "unsafe-key"
    /// A hybrid key, but no library here has ML-KEM.
    case unsupported
}

extension KeyTextError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .tooLong: "this is longer than the kind of key that is expected here"
        case .whiteSpace: "there is white space around the key, such as a line end; remove it"
        case .mixedCase: "a key must be all lowercase or all uppercase"
        case .notAKey:
            """
            this is not a key; public keys begin with push1, pushpq., pushsender1, pushauthority1, or pushenrollment1, secret \
            keys with PUSH-SECRET-KEY-1, PUSH-PQ-SECRET-KEY-1, PUSH-SENDER-SECRET-KEY-1, PUSH-AUTHORITY-SECRET-KEY-1, or \
            PUSH-ENROLLMENT-SECRET-KEY-1
            """
        case .wrongKind: "this is not the type of key expected here"
        case .notInCapitals: "a secret key must be uppercase"
        case .wrongLength: "the key is incomplete, or too long"
        case .wrongCharacter: "the key contains an invalid character"
        case .wrongChecksum: "the key contains a typo: its checksum is wrong"
        case .unsafeKey: "the key is not safe to use: it is of low order, or not in its canonical form"
        case .unsupported: "this is a hybrid key, which needs ML-KEM; use libsodium 1.0.22 or the Server trait"
        }
    }
}

extension KeyTextError {
    /// Stops the program because of a key in its own source; a debug build prints it. Prints a text only if it begins like a
    /// public key, since any other may be a secret.
    func stop(the kind: KeyKind, _ text: String) -> Never {
        let beginning = "\(kind.prefix(kind.algorithms[0]))1"
        let shown = text.hasPrefix(beginning) ? String(text.prefix(KeyKind.maximumCharacterCount)) : "\(beginning)…"
        preconditionFailure("\(shown) in the source can't be used: \(self)")
    }
}
