/// Why a certificate can't be used, and which of its two files is at fault.
package struct CertificateFault: Error, Equatable, CustomStringConvertible {
    package let file: File
    let cause: Cause

    package enum File: Sendable {
        case chain
        case key
    }

    enum Cause: Sendable {
        case empty
        case notPEM
        /// It has the contents of the other file.
        case exchanged
        case damaged
        case encrypted
        case otherCertificate
        case wrongOrder
    }

    init(_ cause: Cause, in file: File) {
        self.cause = cause
        self.file = file
    }

    /// Continues a sentence that begins with the file's name.
    package var description: String {
        let (own, other) = file == .chain ? ("certificate", "key") : ("key", "certificate")
        switch cause {
        case .empty: return "is empty; expected a \(own) in PEM"
        case .notPEM: return "is not PEM; expected a line with BEGIN \(file == .chain ? "CERTIFICATE" : "PRIVATE KEY")"
        case .exchanged: return "contains a \(other), not a \(own); the order is CHAIN,KEY"
        case .damaged: return "contains a \(own) that is damaged or of an unknown type"
        case .encrypted: return "is encrypted; decrypt it with `openssl pkey -in KEY -out NEW`"
        case .otherCertificate: return "is not the key of this certificate"
        case .wrongOrder: return "has the wrong order; the server's own certificate comes first"
        }
    }
}
