internal import Crypto
internal import JWTKit
internal import PushCore
internal import SealedPush

/// The key from Apple's developer account that signs provider tokens: a .p8 file, its key ID, and the team ID.
///
/// It never prints the key or keeps its PEM text, doesn't put the text into a `String`, and wipes decoded bytes. The key
/// itself is in swift-crypto's memory.
public struct ProviderKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The key ID: 10 letters and digits, as in the file's name.
    public let keyID: String
    /// The team ID: 10 letters and digits.
    public let teamID: String
    private let key: ES256PrivateKey

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - pem: The bytes of the .p8 file, which the caller must wipe.
    ///   - keyID: The key ID: 10 letters and digits.
    ///   - teamID: The team ID: 10 letters and digits.
    public init(pem: [UInt8], keyID: String, teamID: String) throws(APNsConfigurationError) {
        guard Self.isIdentifier(keyID), Self.isIdentifier(teamID) else { throw .malformedIdentifier }
        var der = try Self.der(ofPEM: pem)
        defer { wipe(&der) }
        guard let secret = try? P256.Signing.PrivateKey(derRepresentation: der),
            let key = try? ES256PrivateKey(backing: secret)
        else { throw .malformedKey }
        self.keyID = keyID
        self.teamID = teamID
        self.key = key
    }

    /// The key ID and team ID, without the key.
    public var description: String { "provider key \(keyID) of team \(teamID)" }
    /// A mirror without children, so that dumping a key doesn't reveal it.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Returns a signed token: ES256, with `kid`, `iss`, and `iat` in whole seconds.
    func sign(issuedAt seconds: Int64) async throws -> String {
        let keys = await JWTKeyCollection().add(ecdsa: key, kid: JWKIdentifier(string: keyID))
        return try await keys.sign(Claims(iss: teamID, iat: seconds), kid: JWKIdentifier(string: keyID))
    }

    private struct Claims: JWTPayload {
        let iss: String
        let iat: Int64
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// Returns the contents of the first private key block, which the caller must wipe. Accepts the forms in which other
    /// tools store keys: on one line, indented, in quotes, or with escaped line ends. The text may also follow a byte order
    /// mark, or be encoded in base64 again.
    private static func der(ofPEM pem: [UInt8]) throws(APNsConfigurationError) -> [UInt8] {
        guard pem.firstRange(of: "-----BEGIN ".utf8) != nil else {
            guard var decoded = decoded(pem[...]) else { throw .malformedKey }
            guard decoded.firstRange(of: "-----BEGIN ".utf8) != nil else { return decoded }
            defer { wipe(&decoded) }
            return try der(ofPEM: decoded)
        }
        var (rest, other) = (pem[...], APNsConfigurationError.OtherPEM?.none)
        while let begin = rest.firstRange(of: "-----BEGIN ".utf8) {
            rest = rest[begin.upperBound...]
            guard let marks = rest.firstRange(of: "-----".utf8) else { break }
            let label = rest[..<marks.lowerBound]
            rest = rest[marks.upperBound...]
            guard let end = rest.firstRange(of: "-----END ".utf8) else { break }
            other = .init(rawValue: String(decoding: label.prefix(32), as: UTF8.self))
            if other == nil, label.suffix(11).elementsEqual("PRIVATE KEY".utf8) {
                guard let der = decoded(rest[..<end.lowerBound]) else { throw .malformedKey }
                return der
            }
        }
        throw other.map(APNsConfigurationError.otherPEM) ?? .malformedKey
    }

    /// Decodes base64 of either alphabet, ignoring white space, quotes, and `\n`.
    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var characters: [UInt8] = []
        characters.reserveCapacity(text.count)
        defer { wipe(&characters) }
        let ignored = Array("= \t\r\n\"'\\".utf8)
        var isEscape = false
        for byte in text.withoutByteOrderMark {
            defer { isEscape = byte == UInt8(ascii: "\\") }
            switch byte {
            case UInt8(ascii: "+"): characters.append(UInt8(ascii: "-"))
            case UInt8(ascii: "/"): characters.append(UInt8(ascii: "_"))
            case UInt8(ascii: "n") where isEscape, UInt8(ascii: "r") where isEscape: break
            default: if !ignored.contains(byte) { characters.append(byte) }
            }
        }
        return Base64URL.decode(characters)
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy { $0.isLetter || $0.isDigit }
    }
}
