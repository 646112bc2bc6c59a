import FuzzSupport
import PushKeyring
import SealedPush

/// Keys as text, and keys' names: what parses prints back to the same text, no text is two kinds of key, no error repeats
/// any of it. Every second input is not the text itself but is made into one whose checksum fits, since guessing finds none.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzKeyText(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    RepeatableRandom.restart()
    var input = Input(start, count)
    let choice = input.byte()
    guard choice & 1 == 1 else {
        _ = check(input.bytes)
        return 0
    }
    var groups = input.rest.map { $0 & 31 }
    if choice & 0x80 != 0 {
        // A strange key, with what else there is laid over it.
        let edge = Bech32Rule.groups(X25519Rule.edges[Int(input.byte()) % X25519Rule.edges.count])
        groups = edge.map { $0 ^ (input.byte() & 31) }
    }
    let key = WrittenKey(choice: choice, groups: groups)
    demand(check(key.text) == key.kind, "read or refused against Specification 8")
    return 0
}

/// The kind of key that the text is, if any.
private func check(_ bytes: [UInt8]) -> String? {
    var kinds: [String] = []
    if let identity = parsed({ () throws(KeyTextError) in try Identity(parsing: bytes) }) {
        kinds.append("push-secret-key-")
        demand(identity.withSecretText { $0.elementsEqual(bytes) }, "an identity prints another text")
        demand(!contains("\(identity)", bytes), "an identity shows its secret")
    }
    if let key = parsed({ () throws(KeyTextError) in try SenderKey(parsing: bytes) }) {
        kinds.append("push-sender-secret-key-")
        demand(key.withSecretText { $0.elementsEqual(bytes) }, "a sender's secret prints another text")
        demand(!contains("\(key)", bytes), "a sender's key shows its secret")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { return kinds.first }

    let isSecret = !kinds.isEmpty
    let isSecretAsText = (try? Identity(parsing: text)) != nil || (try? SenderKey(parsing: text)) != nil
    demand(isSecret == isSecretAsText, "text and bytes disagree")
    if isPublicKey(bytes, { () throws(KeyTextError) in try Recipient(parsing: text) }) { kinds.append("push") }
    if isPublicKey(bytes, { () throws(KeyTextError) in try Sender(parsing: text) }) { kinds.append("pushsender") }
    demand(kinds.count <= 1, "one text is \(kinds)")
    let isPublic = isPublicKey(bytes) { () throws(KeyTextError) in try PublicKey(parsing: text) }
    demand(isPublic == (!isSecret && !kinds.isEmpty), "a public key and its kinds disagree")
    if let name = KeyName(parsing: text) { checkName(name, text) }
    return kinds.first
}

private func isPublicKey(_ bytes: [UInt8], _ parse: () throws(KeyTextError) -> some CustomStringConvertible) -> Bool {
    guard let key = parsed(parse) else { return false }
    demand(key.description.utf8.elementsEqual(bytes.map(lowercased)), "a public key prints another text")
    return true
}

private func parsed<Key>(_ parse: () throws(KeyTextError) -> Key) -> Key? {
    do {
        return try parse()
    } catch {
        demand(fixedWords.contains(words(error)), "an error has words of its own, perhaps of the text")
        return nil
    }
}

private func checkName(_ name: KeyName, _ text: String) {
    demand(name.description.utf8.elementsEqual(text.utf8), "a name prints another text")
    demand(!text.contains("/") && text != "." && text != ".." && text.utf8.count <= 64, "a name is a path")
}

/// All that errors say, whatever the text.
private let fixedWords = Set(KeyTextError.allCases.map(words))

private func words(_ error: KeyTextError) -> String { "\(error) \(String(reflecting: error)) \(error.rawValue)" }

private func contains(_ text: String, _ bytes: [UInt8]) -> Bool {
    bytes.count >= 16 && text.contains(String(decoding: bytes, as: UTF8.self))
}

private func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 0x20 : byte
}

/// A text around any groups of five bits, with a checksum that fits.
private struct WrittenKey {
    let text: [UInt8]
    /// The kind of key that it is by Specification 8; nil where it must be refused.
    let kind: String?

    init(choice: UInt8, groups: [UInt8]) {
        let kind = Self.kinds[Int(choice >> 1 & 15) % Self.kinds.count]
        let isInCapitals = choice & 0x20 != 0
        // Bech32m, the later form of BIP 350, is refused.
        let isBech32m = choice & 0x40 != 0
        let lower = Bech32Rule.text(prefix: kind, groups: groups, constant: isBech32m ? 0x2bc8_30a3 : 1)
        text = Array((isInCapitals ? lower.uppercased() : lower).utf8)
        let isWhole = groups.count == 52 && groups[51] & 15 == 0 && !isBech32m
        switch kind {
        case "push", "pushsender": self.kind = isWhole && X25519Rule.isSafe(Bech32Rule.bytes(groups)) ? kind : nil
        case "push-secret-key-", "push-sender-secret-key-": self.kind = isWhole && isInCapitals ? kind : nil
        default: self.kind = nil
        }
    }

    private static let kinds = ["push", "pushsender", "push-secret-key-", "push-sender-secret-key-", "pushx", ""]
}
