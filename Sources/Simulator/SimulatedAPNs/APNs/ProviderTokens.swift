internal import Crypto
internal import Foundation
internal import PushCore
internal import SealedPush

/// Verifies provider tokens. Source: Apple, "Establishing a token-based connection to APNs".
final class ProviderTokens: Sendable {
    private let keys: Locked<[String: ProviderKey]>

    init(_ keys: [ProviderKey]) { self.keys = Locked(Dictionary(keys.map { ($0.keyID, $0) }) { _, last in last }) }

    func register(_ key: ProviderKey) { keys.withLock { $0[key.keyID] = key } }

    /// A token with a valid signature. Its age is checked at each request.
    struct Verified: Sendable {
        let key: ProviderKey
        let issued: Int64
    }

    /// Verifies `bearer TOKEN`. Costs a P-256 verification, about 0.1 ms; a connection remembers its current token.
    func verify(_ authorization: String) throws(APNsRefusal) -> Verified {
        let prefix = "bearer "
        guard authorization.utf8.count <= Self.maximumByteCount else { throw APNsRefusal(.invalidProviderToken) }
        guard authorization.prefix(prefix.count).lowercased() == prefix else {
            throw APNsRefusal(.missingProviderToken)
        }
        let parts = authorization.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2].utf8),
            header["alg"] == "ES256", case .string(let keyID)? = header["kid"],
            case .string(let issuer)? = claims["iss"], case .integer(let issued)? = claims["iat"],
            let key = keys.withLock({ $0[keyID] }), key.teamID == issuer,
            let publicKey = key.verifyingKey,
            let signed = try? P256.Signing.ECDSASignature(rawRepresentation: Data(signature)),
            publicKey.isValidSignature(signed, for: Data("\(parts[0]).\(parts[1])".utf8))
        else { throw APNsRefusal(.invalidProviderToken) }
        return Verified(key: key, issued: issued)
    }

    private static func object(_ part: Substring) -> [String: JSONValue]? {
        Base64URL.decode(part.utf8).flatMap { JSONReader.object($0, maximumByteCount: maximumByteCount) }
    }

    private static let maximumByteCount = 4_096
}

/// A connection's memory of its provider tokens. The first push binds it to a team, and its tokens must not change too
/// often.
struct ConnectionIdentity {
    private var first: ProviderKey?
    private var current: (text: String, token: ProviderTokens.Verified)?

    /// Returns the key that signed the token.
    mutating func check(
        _ authorization: String?, tokens: ProviderTokens, at now: Int64
    ) throws(APNsRefusal) -> ProviderKey {
        guard let authorization else { throw APNsRefusal(.missingProviderToken) }
        if let current, current.text == authorization {
            try checkAge(current.token, at: now)
            return current.token.key
        }
        let token = try tokens.verify(authorization)
        try checkAge(token, at: now)
        guard first.map({ $0.teamID == token.key.teamID }) ?? true else { throw APNsRefusal(.invalidProviderToken) }
        if let current, token.issued > current.token.issued {
            guard token.issued - current.token.issued >= Self.updateInterval else {
                throw APNsRefusal(.tooManyProviderTokenUpdates)
            }
        }
        if first == nil { first = token.key }
        // A valid older token may be used in addition to the newest, but isn't remembered.
        if current.map({ token.issued >= $0.token.issued }) ?? true { current = (authorization, token) }
        return token.key
    }

    private func checkAge(_ token: ProviderTokens.Verified, at now: Int64) throws(APNsRefusal) {
        // Compare without subtracting: the two times may be so far apart that their difference would overflow.
        guard token.issued >= now - Self.maximumAge else { throw APNsRefusal(.expiredProviderToken) }
        guard token.issued <= now + Self.futureTolerance else { throw APNsRefusal(.invalidProviderToken) }
    }

    /// In seconds. Apple: a token is valid for an hour, and must not be renewed more often than every 20 minutes.
    private static let (maximumAge, updateInterval): (Int64, Int64) = (3_600, 1_200)
    /// The tolerance for clock differences, in seconds; Apple publishes no number.
    private static let futureTolerance: Int64 = 300
}

/// A provider's key as the server stores it: its ID, the team, and the public key. It's valid for the whole team.
package struct ProviderKey: Codable, Hashable, Sendable {
    /// The key ID. Apple's key IDs have ten characters.
    package var keyID: String
    package var teamID: String
    /// The public key, P-256 in PEM.
    package var publicKey: String

    package init(keyID: String, teamID: String, publicKey: String) {
        self.keyID = keyID
        self.teamID = teamID
        self.publicKey = publicKey
    }

    /// Creates a key pair. Returns the public key for the server, and the `.p8` file's text for the provider.
    package static func make() -> (key: ProviderKey, p8: String) {
        let secret = P256.Signing.PrivateKey()
        let key = ProviderKey(keyID: randomID(), teamID: randomID(), publicKey: secret.publicKey.pemRepresentation)
        return (key, secret.pemRepresentation + "\n")
    }

    private static func randomID() -> String {
        String((0..<10).map { _ in "ABCDEFGHIJKLMNOPQRSTUVWXYZ23456789".randomElement() ?? "A" })
    }

    /// Returns the public key in PEM from a file's text, which may be a public key in PEM or a `.p8`.
    package static func publicKey(pem: String) -> String? {
        if let key = try? P256.Signing.PublicKey(pemRepresentation: pem) { return key.pemRepresentation }
        return (try? P256.Signing.PrivateKey(pemRepresentation: pem))?.publicKey.pemRepresentation
    }

    var verifyingKey: P256.Signing.PublicKey? { try? P256.Signing.PublicKey(pemRepresentation: publicKey) }
}
