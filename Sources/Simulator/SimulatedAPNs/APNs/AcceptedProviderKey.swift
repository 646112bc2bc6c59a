internal import Crypto

/// A provider's key as the server stores it: its ID, the team, and the public key. It's valid for the whole team.
package struct AcceptedProviderKey: Codable, Hashable, Sendable {
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
    package static func make() -> (key: AcceptedProviderKey, p8: String) {
        let secret = P256.Signing.PrivateKey()
        let key = AcceptedProviderKey(
            keyID: randomID(), teamID: randomID(), publicKey: secret.publicKey.pemRepresentation)
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
