package enum ServingError: Error, Equatable, CustomStringConvertible {
    /// Traffic to other machines requires TLS.
    case needsTLS
    /// Every user of a machine can reach its ports.
    case needsTokens
    case badCertificate(CertificateFault)
    /// The system's error message, and the listener's place.
    case notBound(String, at: ServerPlace? = nil)

    package var description: String {
        switch self {
        case .needsTLS: "an address that other machines can reach needs a certificate"
        case .needsTokens:
            "every user of this machine can reach its ports, so the back end needs a token; a socket needs none"
        case .badCertificate(let fault): "the \(fault.file == .chain ? "certificate" : "key")'s file \(fault)"
        case .notBound(let words, nil): "can't listen: \(words)"
        case .notBound(let words, let place?): "can't listen at \(place.description(nil)): \(words)"
        }
    }
}
