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

/// The 256 words of a ``Fingerprint``: word n stands for the byte n.
///
/// Four to six letters, sorted, all different in their first four letters, and any two at least two letters apart.
/// The list can never change, since both ends must show the same. Source: Specification 12.5.
enum FingerprintWords {
    static let list: [String] = text.split { $0 == " " || $0 == "\n" }.map(String.init)

    private static let text = """
        acorn album almond amber anchor apple artist atlas atom attic autumn azure bakery bamboo banana barrel
        basket blazer bonus bottle bright broom brush burger cabin cactus carpet castle cello chalk chef clover
        cocoa coffee comb cookie cotton cousin crayon cream crisp cube curry daisy dance decade desk dinner
        doctor domino drum duet early echo edge elbow energy engine extra fabric falcon farmer ferret finch
        flag flute frost galaxy garlic gentle gibbon glider goat grape green guitar hiking hinge hobby hornet
        humble icicle ideal igloo image indigo input insect iron island ivory jaguar jazz jigsaw joker juice
        jumbo jungle kayak kiosk kitten kiwi koala label ladder laptop large lava lemon letter lively local
        logic lucky magpie mango marble menu meteor mighty mirror modern moss music nectar needle nephew newt
        nickel ninja noble nutmeg oasis ocelot office olive opera orange orbit orchid outfit owner oxygen oyster
        ozone palace paper parrot pasta pebble pencil pickle pigeon pilot pink pixel pizza planet poem poppy
        proud puzzle quaint quiver rabbit raisin rapid recipe relay reward rhythm robot rocket salad sandal scarf
        school season shadow shovel shrimp signal silver simple skater sketch smooth snow soccer soda sphere spiral
        spoon sprint square statue steady strong studio subway sugar summer sunset swamp swift talent taxi teapot
        tennis thumb tiger tofu tomato topaz towel tripod trophy truck tulip tunnel turtle twin umpire unit
        upbeat urban usual utmost valley vase vault velvet vessel violet vivid volume voyage waffle wagon walrus
        wheat whisk window witty wizard wolf wombat wooden yacht yarn young zebra zenith zesty zigzag zipper
        """
}

/// The first four bytes of SHA-256 over a public key: tells keys apart on a screen and in a log.
///
/// It never travels with a push. Anyone can make a key with a given ID, so an ID that fits proves nothing.
/// Source: Specification 3.2.
public struct KeyID: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    init(of key: [UInt8]) { bytes = Array(key.withUnsafeBytes { SHA256.hash($0) }[..<4]) }

    /// Eight lowercase hexadecimal digits.
    public var description: String { Hex.encode(bytes) }
}
