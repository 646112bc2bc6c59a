internal import JWTKit

/// The key from Apple's developer account that signs provider tokens: a .p8 file, its key ID and the team's ID.
///
/// It never prints the key, and its PEM text is not kept. The key itself lies in the memory of swift-crypto.
public struct ProviderKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// 10 letters and digits, as in the file's name.
    public let keyID: String
    /// 10 letters and digits.
    public let teamID: String
    private let key: ES256PrivateKey

    /// - Parameter pem: the .p8 file's bytes.
    public init(pem: [UInt8], keyID: String, teamID: String) throws(APNSConfigurationError) {
        guard Self.isIdentifier(keyID), Self.isIdentifier(teamID) else { throw .malformedIdentifier }
        guard let key = try? ES256PrivateKey(pem: String(decoding: pem, as: UTF8.self)) else { throw .malformedKey }
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

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            }
    }
}
