internal import PushCore
internal import SealedPush

/// One or two secrets, one of which a caller must present. There are two while callers switch to a new one. Only their
/// hashes are kept, and each is compared in constant time.
package struct BearerTokens: Sendable {
    private let digests: [[UInt8]]

    /// Parses one token per line. Ignores a byte order mark, white space around a token, and lines that are empty or begin
    /// with `#`. Throws ``TokenError`` unless there are one or two tokens, of 32 to 256 visible ASCII characters each.
    package init(parsing text: [UInt8]) throws(TokenError) {
        let text = text.withoutByteOrderMark
        let lines = text.split { $0 == 0x0a || $0 == 0x0d }.map { $0.split { $0 == 0x20 || $0 == 0x09 } }
            .filter { $0.first.map { $0.first != UInt8(ascii: "#") } ?? false }
        guard (1...2).contains(lines.count) else { throw .count }
        let tokens = lines.flatMap(\.self)
        guard tokens.count == lines.count,
            tokens.allSatisfy(Self.isToken)
        else { throw .form }
        digests = tokens.map { Self.digest(Array($0)) }
    }

    /// Lends a new token, 43 random characters and a line's end, while `body` runs. The text is wiped afterward.
    package static func withNewToken<Answer, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let bytes = WipedBytes(count: 32) { SecureRandom.fill($0) }
        let end = Base64URL.textByteCount(of: bytes.count)
        let text = WipedBytes(count: end + 1) { text in
            bytes.withBytes { Base64URL.write($0, to: UnsafeMutableRawBufferPointer(rebasing: text[..<end])) }
            text[end] = 0x0a
        }
        return try text.withBytes(body)
    }

    /// - Parameter header: The value of `Authorization`.
    func accept(_ header: String?) -> Bool {
        guard let token = Self.token(in: header) else { return false }
        let given = Self.digest(Array(token.utf8))
        return digests.reduce(false) { isFound, digest in ConstantTime.areEqual(digest, given) || isFound }
    }

    /// Whether the text is long enough that nobody can guess it.
    static func isToken(_ text: some Collection<UInt8>) -> Bool {
        (32...256).contains(text.count) && text.allSatisfy { (0x21...0x7e).contains($0) }
    }

    static func token(in header: String?) -> Substring? {
        guard let header, header.utf8.count <= 512 else { return nil }
        let words = header.split(separator: " ")
        return words.count == 2 && words[0].lowercased() == "bearer" ? words[1] : nil
    }

    private static func digest(_ token: [UInt8]) -> [UInt8] { BLAKE2b.hash(token, byteCount: 32) }
}
