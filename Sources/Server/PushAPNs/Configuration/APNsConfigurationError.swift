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
