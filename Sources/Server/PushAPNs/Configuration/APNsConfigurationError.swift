/// An error in a transport's configuration. It doesn't contain the input.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum APNsConfigurationError: Error, Hashable, Sendable {
    /// Not an EC P-256 private key in PEM, as in Apple's .p8 files.
    case malformedKey
    /// PEM data of another type.
    case otherPEM(OtherPEM)
    /// A key ID or team ID that isn't 10 letters and digits.
    case malformedIdentifier
    /// No certificates in PEM.
    case malformedTrustRoots
    /// TLS couldn't be set up with the trust roots.
    case tls

    /// PEM data that is often mistaken for a .p8 file, by its label.
    public enum OtherPEM: String, Sendable {
        /// A certificate.
        case certificate = "CERTIFICATE"
        /// A public key.
        case publicKey = "PUBLIC KEY"
        /// A private key that is encrypted with a passphrase.
        case encryptedKey = "ENCRYPTED PRIVATE KEY"
    }
}

extension APNsConfigurationError: CustomStringConvertible {
    /// One sentence for an operator.
    public var description: String {
        switch self {
        case .malformedKey: "this is not a .p8 key: an EC P-256 private key in PEM, from an Apple developer account"
        case .otherPEM(let other):
            "this is not a .p8 key from an Apple developer account; it is a \(other.rawValue.lowercased())"
        case .malformedIdentifier: "a key ID and a team ID must each have 10 letters and digits"
        case .malformedTrustRoots: "there are no PEM certificates in the trust roots"
        case .tls: "TLS can't be set up with these trust roots"
        }
    }
}
