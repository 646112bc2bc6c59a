internal import Crypto
internal import JWTKit
internal import PushCore
internal import SealedPush

/// The key from Apple's developer account that signs provider tokens: a .p8 file, its key ID and the team's ID.
///
/// It never prints the key, and its PEM text is not kept: no `String` is made of it, and what is decoded is wiped. The key
/// itself lies in the memory of swift-crypto.
public struct ProviderKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// 10 letters and digits, as in the file's name.
    public let keyID: String
    /// 10 letters and digits.
    public let teamID: String
    private let key: ES256PrivateKey

    /// - Parameter pem: the .p8 file's bytes, which the caller wipes.
    public init(pem: [UInt8], keyID: String, teamID: String) throws(APNSConfigurationError) {
        guard Self.isIdentifier(keyID), Self.isIdentifier(teamID) else { throw .malformedIdentifier }
        guard var der = Self.der(ofPEM: pem) else { throw .malformedKey }
        defer { wipe(&der) }
        guard let secret = try? P256.Signing.PrivateKey(derRepresentation: der),
            let key = try? ES256PrivateKey(backing: secret)
        else { throw .malformedKey }
        self.keyID = keyID
        self.teamID = teamID
        self.key = key
    }

    public var description: String { "provider key \(keyID) of team \(teamID)" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// A signed token: ES256, with `kid`, `iss` and `iat` in whole seconds.
    func sign(issuedAt seconds: Int64) async throws -> String {
        let keys = await JWTKeyCollection().add(ecdsa: key, kid: JWKIdentifier(string: keyID))
        return try await keys.sign(Claims(iss: teamID, iat: seconds), kid: JWKIdentifier(string: keyID))
    }

    private struct Claims: JWTPayload {
        let iss: String
        let iat: Int64
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// What stands in the first block of a private key; the caller wipes it. Nil where there is none.
    private static func der(ofPEM pem: [UInt8]) -> [UInt8]? {
        var characters: [UInt8] = []
        characters.reserveCapacity(pem.count)
        defer { wipe(&characters) }
        var isInside = false
        for line in pem.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            if line.starts(with: Array("-----END ".utf8)), isInside {
                return Base64URL.decode(characters)
            } else if line.starts(with: Array("-----BEGIN ".utf8)) {
                isInside = line.suffix(16).elementsEqual(Array("PRIVATE KEY-----".utf8))
                wipe(&characters)
                characters.removeAll(keepingCapacity: true)
            } else if isInside {
                for byte in line {
                    switch byte {
                    case UInt8(ascii: "+"): characters.append(UInt8(ascii: "-"))
                    case UInt8(ascii: "/"): characters.append(UInt8(ascii: "_"))
                    case UInt8(ascii: "="), UInt8(ascii: " "), UInt8(ascii: "\t"): break
                    default: characters.append(byte)
                    }
                }
            }
        }
        return nil
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy { $0.isLetter || $0.isDigit }
    }
}
