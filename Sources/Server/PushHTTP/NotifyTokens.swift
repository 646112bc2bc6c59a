internal import PushCore
internal import PushOutbox

/// The tokens of programs that may only notify one user each, such as a webhook's. Their file has only hashes, so that it
/// reveals no token. Each hash is compared in constant time.
package struct NotifyTokens: Sendable {
    private let tokens: [Token]

    struct Token: Sendable {
        let digest: [UInt8]
        /// The operator's name for it, which isn't secret.
        let name: String
        let user: UserName
    }

    /// Parses one line per token: the token's SHA-256 in hexadecimal digits, its name, and its user, whose name may contain
    /// spaces. Ignores a byte order mark, lines that are empty or begin with `#`, and white space around the three. There may
    /// be no line, so that the last token can be removed.
    package init(parsing text: [UInt8]) throws(TokenError) {
        var (tokens, known) = ([Token](), Set<[UInt8]>())
        let lines = text.withoutByteOrderMark.split(separator: 0x0a, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let line = line.trimmingSpace
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            guard let token = Token(line) else { throw .line(index + 1) }
            guard known.insert(token.digest).inserted, known.insert(Array(token.name.utf8)).inserted
            else { throw .repeated(line: index + 1) }
            tokens.append(token)
        }
        guard tokens.count <= Self.maximumCount else { throw .tooMany }
        self.tokens = tokens
    }

    static let maximumCount = 1_000
    /// Enough for this many tokens with the longest lines.
    package static let maximumByteCount = 300_000

    /// Returns the presented token, or `nil` if it isn't one of these.
    ///
    /// - Parameter header: The value of `Authorization`.
    func token(in header: String?) -> Token? {
        guard let text = BearerTokens.token(in: header).map({ Array($0.utf8) }), BearerTokens.isToken(text)
        else { return nil }
        let given = text.withUnsafeBytes { SHA256.hash($0) }
        return tokens.reduce(nil) { found, token in ConstantTime.areEqual(token.digest, given) ? token : found }
    }
}

extension NotifyTokens.Token {
    /// Returns `nil` unless the line has the three parts.
    fileprivate init?(_ line: ArraySlice<UInt8>) {
        let parts = line.split(maxSplits: 2) { $0 == 0x20 || $0 == 0x09 }
        guard parts.count == 3, let digits = String(strictUTF8: parts[0]), let digest = Hex.decode(digits),
            digest.count == SHA256.byteCount, (1...64).contains(parts[1].count),
            parts[1].allSatisfy({ (0x21...0x7e).contains($0) }), let name = String(strictUTF8: parts[1]),
            let user = String(strictUTF8: parts[2].trimmingSpace).flatMap(UserName.init(parsing:))
        else { return nil }
        (self.digest, self.name, self.user) = (digest, name, user)
    }
}
