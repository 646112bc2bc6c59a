import PushCore

/// A public key in a form that two people can compare, on two screens or aloud: digits or words.
///
/// Both ends compute the same fingerprint from the key alone. It answers one question: is the key that I was given the key
/// that you have? The strength of the answer depends on the form that is compared, and on comparing all of it. To pass off a
/// key of their own, attackers have to try about this many keys:
///
/// | compared | tries |
/// |---|---|
/// | two fingerprints with `==`, by a program | at least as many as breaking the key itself |
/// | ``digits``, all six groups | 2⁹⁹ |
/// | ``words``, all twelve | 2⁹⁶ |
/// | only two groups of digits, or four words | 2³²: hours or less |
///
/// If any one of n keys will do, the tries are divided by n. To create two keys that look the same, only about 2⁵⁰ tries
/// (digits) or 2⁴⁸ (words) are needed. That doesn't help in a comparison, since both keys are the attacker's. But it means
/// that the displayed form doesn't identify a key, so programs must compare whole keys.
///
/// The type of a key is included, so the same bytes look different as another type of key. A fingerprint isn't secret, and
/// it proves nothing by itself: it must come from the key's owner over a channel that an attacker can't write to.
///
/// Creating one costs one hash of the key. Thread-safe. Source: Specification 12.
public struct Fingerprint: Hashable, Sendable {
    /// The full BLAKE2b-256.
    private let hash: [UInt8]

    /// Creates the fingerprint of a public key.
    public init<Role>(of key: PublicKey<Role>) { self.init(kind: key.prefix, bytes: key.bytes) }

    /// Creates the fingerprint of any type of public key; `kind` is the lowercase human-readable part of its text.
    package init(kind: String, bytes: [UInt8]) {
        precondition(!bytes.isEmpty, "a fingerprint needs a key")
        precondition(!kind.isEmpty && !kind.utf8.contains(0), "a kind must be a human-readable part of Bech32")
        hash = BLAKE2b.hash(Self.label + [0] + Array(kind.utf8) + [0] + bytes, byteCount: 32)
    }

    /// Six groups of five digits: 99.6 bits, the same in every language, to compare by phone or on two screens.
    public var digits: [String] {
        (0..<6).map { group in
            let number = hash[5 * group..<5 * group + 5].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            let digits = String(number % 100_000)
            return String(repeating: "0", count: 5 - digits.count) + digits
        }
    }

    /// Twelve English words from a list of 256: 96 bits. They are derived from the same bytes as the first groups of
    /// digits. Comparing either form in full is enough.
    public var words: [String] { hash[..<12].map { FingerprintWords.list[Int($0)] } }

    private static let label = Array("sealedpush/v1 fingerprint".utf8)
}

extension Fingerprint: CustomStringConvertible {
    /// The digits, with a space between the groups: 35 characters.
    public var description: String { digits.joined(separator: " ") }
}

/// The 256 words of a ``Fingerprint``: word n represents the byte n. Each has four to six letters. They are sorted, differ
/// in their first four letters, and any two are at least two letters apart. The list can never change, since both ends must
/// show the same words. Source: Specification 12.5.
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
