/// What is wrong with a transport's configuration. None of them repeats what was given.
public enum APNSConfigurationError: Error, Hashable, Sendable {
    /// Not an EC P-256 private key in PEM, as in Apple's .p8 files.
    case malformedKey
    /// A key ID or team ID is 10 letters and digits.
    case malformedIdentifier
    /// No certificates in PEM.
    case malformedTrustRoots
    /// TLS could not be set up with them.
    case tls
}
