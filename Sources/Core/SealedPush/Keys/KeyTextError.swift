/// Why a text is not a key. Never holds any of the text: it may have been a secret.
public enum KeyTextError: String, Error, CaseIterable, Sendable {
    /// More characters than any key of its kind has; 90 at least are looked at.
    case tooLong = "too-long"
    /// Capitals and small letters in one key.
    case mixedCase = "mixed-case"
    /// No `1` that ends the kind of key.
    case notAKey = "not-a-key"
    /// Another kind of key, or something else altogether.
    case wrongKind = "wrong-kind"
    /// A secret key is written in capitals.
    case notInCapitals = "not-in-capitals"
    /// Not the number of characters that its kind has.
    case wrongLength = "wrong-length"
    /// A character that Bech32 does not have.
    case wrongCharacter = "wrong-character"
    /// A typing error: the checksum does not fit.
    case wrongChecksum = "wrong-checksum"
    /// The bytes are no safe public key (Specification 3.3, 8.6).
    case unsafeKey = "unsafe-key"
}

extension KeyTextError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .tooLong: "this is longer than any key (\(KeyKind.maximumCharacterCount) characters)"
        case .mixedCase: "a key is written in small letters or in capitals, not in both"
        case .notAKey:
            """
            this is no key: public keys begin with push1, pushsender1, pushauthority1 or pushenrollment1, secret keys \
            with PUSH-SECRET-KEY-1, PUSH-SENDER-SECRET-KEY-1, PUSH-AUTHORITY-SECRET-KEY-1 or PUSH-ENROLLMENT-SECRET-KEY-1
            """
        case .wrongKind: "this is not the kind of key that is expected here"
        case .notInCapitals: "a secret key is written in capitals"
        case .wrongLength: "a part of the key is missing, or there is too much of it"
        case .wrongCharacter: "there is a character in it that keys do not have"
        case .wrongChecksum: "the key has a typing error in it"
        case .unsafeKey: "the key is not safe to use: it is of low order, or not in its canonical form"
        }
    }
}

extension KeyTextError {
    /// Stops the program for a key that stands in its own source; a debug build says which. Only what begins as a public
    /// key does is printed: anything else may be a secret.
    func stop(the kind: KeyKind, _ text: String) -> Never {
        let beginning = "\(kind.prefix(kind.algorithms[0]))1"
        let shown = text.hasPrefix(beginning) ? String(text.prefix(KeyKind.maximumCharacterCount)) : "\(beginning)…"
        preconditionFailure("\(shown) in the source can't be used: \(self)")
    }
}
