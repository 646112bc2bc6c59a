internal import Crypto
internal import Foundation
internal import PushCore
internal import SealedPush

/// Verifies provider tokens. Source: Apple, "Establishing a token-based connection to APNs".
final class ProviderTokens: Sendable {
    private let keys: Locked<[String: AcceptedProviderKey]>

    init(_ keys: [AcceptedProviderKey]) {
        self.keys = Locked(Dictionary(keys.map { ($0.keyID, $0) }) { _, last in last })
    }

    func register(_ key: AcceptedProviderKey) { keys.withLock { $0[key.keyID] = key } }

    /// A token with a valid signature. Its age is checked at each request.
    struct Verified: Sendable {
        let key: AcceptedProviderKey
        let issued: Int64
    }

    /// Verifies `bearer TOKEN`. Costs a P-256 verification, about 0.1 ms; a connection remembers its current token.
    func verify(_ authorization: String) throws(LocalAPNsRefusal) -> Verified {
        let prefix = "bearer "
        guard authorization.utf8.count <= Self.maximumByteCount else { throw LocalAPNsRefusal(.invalidProviderToken) }
        guard authorization.prefix(prefix.count).lowercased() == prefix else {
            throw LocalAPNsRefusal(.missingProviderToken)
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
        else { throw LocalAPNsRefusal(.invalidProviderToken) }
        return Verified(key: key, issued: issued)
    }

    private static func object(_ part: Substring) -> [String: JSONValue]? {
        Base64URL.decode(part.utf8).flatMap { JSONReader.object($0, maximumByteCount: maximumByteCount) }
    }

    private static let maximumByteCount = 4_096
}
