import FuzzSupport

/// A text around any groups of five bits, with a checksum that fits.
struct WrittenKey {
    let text: [UInt8]
    /// The kind of key that it is by Specification 8; nil where it must be refused.
    let kind: String?

    init(choice: UInt8, groups: [UInt8]) {
        let kind = Self.kind(choice)
        let isInCapitals = choice & 0x20 != 0
        // Bech32m, the later form of BIP 350, is refused.
        let isBech32m = choice & 0x40 != 0
        let lower = Bech32Rule.text(prefix: kind, groups: groups, constant: isBech32m ? 0x2bc8_30a3 : 1)
        text = Array((isInCapitals ? lower.uppercased() : lower).utf8)
        let isWhole = groups.count == 52 && groups[51] & 15 == 0 && !isBech32m
        let isRight: Bool =
            switch kind {
            case "push", "pushsender": isWhole && X25519Rule.isSafe(Bech32Rule.bytes(groups))
            case "pushauthority", "pushenrolment": isWhole && Ed25519Rule.isSafe(Bech32Rule.bytes(groups))
            default: isWhole && isInCapitals && kind.hasSuffix("-key-")
            }
        self.kind = isRight ? kind : nil
    }

    /// Whether the kind is a public key of Ed25519.
    static func isSigning(_ choice: UInt8) -> Bool { ["pushauthority", "pushenrolment"].contains(kind(choice)) }

    private static func kind(_ choice: UInt8) -> String { kinds[Int(choice >> 1 & 15) % kinds.count] }

    private static let kinds = [
        "push", "pushsender", "push-secret-key-", "push-sender-secret-key-", "pushauthority", "pushenrolment",
        "push-authority-secret-key-", "push-enrolment-secret-key-", "push-keyring-key-", "pushx", "",
    ]
}
