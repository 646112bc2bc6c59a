import FuzzSupport
import PushKeyring
import SealedPush

/// Keys as text, and keys' names: parsed text prints as the same text, no text is two types of key, and no error repeats any
/// of it. Every second input is turned into a text with a valid checksum, since guessing never finds one.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzzKeyText(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    RepeatableRandom.restart()
    var input = Input(start, count)
    let choice = input.byte()
    guard choice & 1 == 1 else {
        _ = check(input.bytes)
        return 0
    }
    var groups = input.rest.map { $0 & 31 }
    if choice & 0x80 != 0 {
        // An edge-case key, combined with the rest of the input.
        let all = WrittenKey.isSigning(choice) ? Ed25519Rule.edges : X25519Rule.edges
        let edge = Bech32Rule.groups(all[Int(input.byte()) % all.count])
        groups = edge.map { $0 ^ (input.byte() & 31) }
    }
    let key = WrittenKey(choice: choice, groups: groups)
    demand(check(key.text) == key.kind, "accepted or rejected in violation of Specification 8")
    return 0
}

/// Returns the type of key that the text is, if any.
private func check(_ bytes: [UInt8]) -> String? {
    var kinds: [String] = []
    if isSecretKey(bytes, DevicePrivateKey.self) { kinds.append("push-secret-key-") }
    if isSecretKey(bytes, SenderPrivateKey.self) { kinds.append("push-sender-secret-key-") }
    if isSecretKey(bytes, AuthorityPrivateKey.self) { kinds.append("push-authority-secret-key-") }
    if isSecretKey(bytes, EnrollmentPrivateKey.self) { kinds.append("push-enrollment-secret-key-") }
    if isKeyringKey(bytes) { kinds.append("push-keyring-key-") }
    if let text = String(validating: bytes, as: UTF8.self) {
        if isPublicKey(bytes, { () throws(KeyTextError) in try DevicePublicKey(parsing: text) }) {
            kinds.append("push")
        }
        if isPublicKey(bytes, { () throws(KeyTextError) in try SenderPublicKey(parsing: text) }) {
            kinds.append("pushsender")
        }
        if isPublicKey(bytes, { () throws(KeyTextError) in try AuthorityPublicKey(parsing: text) }) {
            kinds.append("pushauthority")
        }
        if isPublicKey(bytes, { () throws(KeyTextError) in try EnrollmentPublicKey(parsing: text) }) {
            kinds.append("pushenrollment")
        }
        checkAnyPublicKey(bytes, text, kind: kinds.first)
        if let name = KeyName(parsing: text) { checkName(name, text) }
    }
    demand(kinds.count <= 1, "a single text is \(kinds)")
    return kinds.first
}

private func isSecretKey<Role>(_ bytes: [UInt8], _ kind: PrivateKey<Role>.Type) -> Bool {
    let text = String(validating: bytes, as: UTF8.self)
    let isKeyAsText =
        text.map { text in parsed { () throws(KeyTextError) in try PrivateKey<Role>(parsing: text) } != nil } ?? false
    guard let key = parsed({ () throws(KeyTextError) in try PrivateKey<Role>(parsing: bytes) }) else {
        demand(!isKeyAsText, "text and bytes disagree")
        return false
    }
    demand(isKeyAsText, "text and bytes disagree")
    demand(key.withSecretText { $0.elementsEqual(bytes) }, "a secret key prints another text")
    demand(!contains("\(key) \(String(reflecting: key))", bytes), "a secret key shows its secret")
    demand("\(key)".contains(key.publicKey.description), "a secret key doesn't show its public half")
    return true
}

/// Whether the bytes are a keyring's key, which may be surrounded by white space.
private func isKeyringKey(_ bytes: [UInt8]) -> Bool {
    guard let key = parsed({ () throws(KeyTextError) in try KeyringKey(parsing: bytes) }) else { return false }
    let isSpace = { (byte: UInt8) in " \t\r\n".utf8.contains(byte) }
    let trimmed = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
    demand(key.withText { $0.elementsEqual(trimmed) }, "a keyring's key prints another text")
    let shown = "\(key) \(String(reflecting: key))"
    demand(!contains(shown, Array(trimmed)), "a keyring's key shows its secret")
    return true
}

private func isPublicKey(_ bytes: [UInt8], _ parse: () throws(KeyTextError) -> some CustomStringConvertible) -> Bool {
    guard let key = parsed(parse) else { return false }
    demand(isText(of: key, bytes), "a public key prints another text")
    return true
}

/// A keyring stores only three types of public key under a name.
private func checkAnyPublicKey(_ bytes: [UInt8], _ text: String, kind: String?) {
    let key = parsed { () throws(KeyTextError) in try AnyPublicKey(parsing: text) }
    let kinds: [String: AnyPublicKey.Kind] = ["push": .device, "pushsender": .sender, "pushauthority": .authority]
    demand(key?.kind == kind.flatMap { kinds[$0] }, "a public key and its kinds disagree")
    demand(key.map { isText(of: $0, bytes) } ?? true, "a public key prints another text")
}

/// Whether a key prints this text: in lowercase, unless its form distinguishes them.
private func isText(of key: some CustomStringConvertible, _ bytes: [UInt8]) -> Bool {
    let isArmored = bytes.starts(with: "pushpq.".utf8)
    return key.description.utf8.elementsEqual(isArmored ? bytes : bytes.map(lowercased))
}

private func parsed<Key>(_ parse: () throws(KeyTextError) -> Key) -> Key? {
    do {
        return try parse()
    } catch {
        demand(fixedWords.contains(words(error)), "an error isn't a fixed text, so it may repeat the input")
        return nil
    }
}

private func checkName(_ name: KeyName, _ text: String) {
    demand(name.description.utf8.elementsEqual(text.utf8), "a name prints another text")
    demand(!text.contains("/") && text != "." && text != ".." && text.utf8.count <= 64, "a name is a path")
}

/// All texts that errors may have, whatever the input.
private let fixedWords = Set(KeyTextError.allCases.map(words))

private func words(_ error: KeyTextError) -> String { "\(error) \(String(reflecting: error)) \(error.rawValue)" }

private func contains(_ text: String, _ bytes: [UInt8]) -> Bool {
    bytes.count >= 16 && text.contains(String(decoding: bytes, as: UTF8.self))
}

private func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 0x20 : byte
}

/// A text around any five-bit groups, with a valid checksum.
struct WrittenKey {
    let text: [UInt8]
    /// The type of key according to Specification 8; nil if it must be rejected.
    let kind: String?

    init(choice: UInt8, groups: [UInt8]) {
        let kind = Self.kind(choice)
        let isInCapitals = choice & 0x20 != 0
        // Bech32m, the later form of BIP 350, is rejected.
        let isBech32m = choice & 0x40 != 0
        let bytes = Bech32Rule.bytes(groups)
        if kind == "pushpq" {
            // Not Bech32; a checksum that is off by a bit is rejected.
            var checksum = RawSigning.sha256(bytes).prefix(4)
            if isBech32m { checksum[checksum.startIndex] ^= 1 }
            text = Array(("pushpq." + Base64URLRule.encode(bytes + checksum)).utf8)
            self.kind = bytes.count == 1_216 && !isBech32m && X25519Rule.isSafe(device: bytes) ? "push" : nil
            return
        }
        let lower = Bech32Rule.text(prefix: kind, groups: groups, constant: isBech32m ? 0x2bc8_30a3 : 1)
        text = Array((isInCapitals ? lower.uppercased() : lower).utf8)
        let isWhole = bytes.count == 32 && Bech32Rule.groups(bytes) == groups && !isBech32m
        let isRight: Bool =
            switch kind {
            case "push", "pushsender": isWhole && X25519Rule.isSafe(device: bytes)
            case "pushauthority", "pushenrollment": isWhole && Ed25519Rule.isSafe(bytes)
            default: isWhole && isInCapitals && kind.hasSuffix("-key-")
            }
        // A hybrid key is also a device's key.
        self.kind = isRight ? kind.replacing("-pq", with: "") : nil
    }

    /// Whether the type is an Ed25519 public key.
    static func isSigning(_ choice: UInt8) -> Bool { ["pushauthority", "pushenrollment"].contains(kind(choice)) }

    private static func kind(_ choice: UInt8) -> String { kinds[Int(choice >> 1 & 15) % kinds.count] }

    private static let kinds = [
        "push", "pushsender", "push-secret-key-", "push-sender-secret-key-", "pushauthority", "pushenrollment",
        "push-authority-secret-key-", "push-enrollment-secret-key-", "push-keyring-key-", "pushx", "",
        "pushpq", "push-pq-secret-key-",
    ]
}
