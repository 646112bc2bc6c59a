internal import Crypto
internal import Foundation

/// A provider's key as the server knows it: its ID, the team, the public half, and what it is for.
package struct ProviderKey: Codable, Hashable, Sendable {
    /// Apple's have ten characters.
    package var keyID: String
    package var teamID: String
    /// P-256, PEM.
    package var publicKey: String
    /// Nil for both.
    package var environment: APNsEnvironment?
    /// The bundle IDs of a topic-specific key; nil for a key of the whole team.
    package var topics: [String]?
    /// Another topic-specific key whose tokens may share a connection with this one's.
    package var relatedKeyID: String?

    package init(
        keyID: String, teamID: String, publicKey: String, environment: APNsEnvironment? = nil, topics: [String]? = nil,
        relatedKeyID: String? = nil
    ) {
        self.keyID = keyID
        self.teamID = teamID
        self.publicKey = publicKey
        self.environment = environment
        self.topics = topics
        self.relatedKeyID = relatedKeyID
    }

    /// A new key pair: what the server keeps, and the `.p8` file's text for the provider.
    package static func make(teamID: String? = nil) -> (key: ProviderKey, p8: String) {
        let secret = P256.Signing.PrivateKey()
        let key = ProviderKey(
            keyID: randomID(), teamID: teamID ?? randomID(), publicKey: secret.publicKey.pemRepresentation)
        return (key, secret.pemRepresentation + "\n")
    }

    private static func randomID() -> String {
        String((0..<10).map { _ in "ABCDEFGHIJKLMNOPQRSTUVWXYZ23456789".randomElement() ?? "A" })
    }

    /// The public half of what a file holds: a public key in PEM, or a `.p8`.
    package static func publicKey(pem: String) -> String? {
        if let key = try? P256.Signing.PublicKey(pemRepresentation: pem) { return key.pemRepresentation }
        return (try? P256.Signing.PrivateKey(pemRepresentation: pem))?.publicKey.pemRepresentation
    }

    var verifyingKey: P256.Signing.PublicKey? { try? P256.Signing.PublicKey(pemRepresentation: publicKey) }

    func isRelated(to other: ProviderKey) -> Bool {
        if keyID == other.keyID { return true }
        if topics == nil, other.topics == nil { return true }
        return topics != nil && other.topics != nil && (relatedKeyID == other.keyID || other.relatedKeyID == keyID)
    }
}
