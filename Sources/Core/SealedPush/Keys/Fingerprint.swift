import PushCore

/// A public key in a form that two people can compare, on two screens or aloud: digits, or words.
///
/// Both ends compute the same one from the key alone. It is made to answer one question: is the key that I was given
/// the one that you have? How strong the answer is, depends on the form that is compared, and on all of it being
/// compared. To pass off a key of his own, an attacker has to try about so many keys:
///
/// | compared | tries |
/// |---|---|
/// | two fingerprints with `==`, by a program | no fewer than to break the key itself |
/// | ``digits``, all six groups | 2⁹⁹ |
/// | ``words``, all twelve | 2⁹⁶ |
/// | two groups of digits only, or four words only | 2³²: hours or less |
///
/// Where he is content with any one of n keys, the tries are divided by n. Somebody who makes both keys himself needs
/// only about 2⁵⁰ tries (digits) or 2⁴⁸ (words) for two keys that look the same. That gains him nothing in a comparison,
/// since both are his; but for this reason what is shown is no name for a key, and programs compare whole keys.
///
/// The kind of a key is part of it: the same bytes as another kind of key look different. It is no secret, and it
/// proves nothing by itself: it has to come from the key's owner on a way that an attacker can't write to.
///
/// Making one costs one hash of the key. Safe to share between threads. Source: Specification 12.
public struct Fingerprint: Hashable, Sendable {
    /// BLAKE2b-256, whole.
    private let hash: [UInt8]

    public init<Role>(of key: PublicKey<Role>) { self.init(kind: key.prefix, bytes: key.bytes) }

    /// The fingerprint of a public key of any kind: `kind` is the human-readable part of its text, in lowercase.
    package init(kind: String, bytes: [UInt8]) {
        precondition(!bytes.isEmpty, "a fingerprint is of a key")
        precondition(!kind.isEmpty && !kind.utf8.contains(0), "a kind is a human-readable part of Bech32")
        hash = BLAKE2b.hash(Self.label + [0] + Array(kind.utf8) + [0] + bytes, byteCount: 32)
    }

    /// Six groups of five digits: 99.6 bits.
    ///
    /// The same in every language; the form for a telephone and for two screens side by side.
    public var digits: [String] {
        (0..<6).map { group in
            let number = hash[5 * group..<5 * group + 5].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            let digits = String(number % 100_000)
            return String(repeating: "0", count: 5 - digits.count) + digits
        }
    }

    /// Twelve English words from a list of 256: 96 bits.
    ///
    /// They come from the bytes that the first groups of digits come from too. Comparing either form in full is enough.
    public var words: [String] { hash[..<12].map { FingerprintWords.list[Int($0)] } }

    private static let label = Array("sealedpush/v1 fingerprint".utf8)
}

extension Fingerprint: CustomStringConvertible {
    /// The digits, with a space between the groups: 35 characters.
    public var description: String { digits.joined(separator: " ") }
}
