internal import Crypto
internal import Foundation
internal import SwiftASN1
internal import X509

/// The server's certificate and the root that signed it. The root's private key is discarded immediately, so trusting
/// this root means trusting one server.
struct LocalCertificate {
    let rootPEM: String
    let certificatePEM: String
    let keyPEM: String

    /// Creates a certificate for `localhost` and the loopback addresses.
    static func make(at now: Date = Date(), validity: TimeInterval = 397 * 86_400) throws -> LocalCertificate {
        let rootKey = P256.Signing.PrivateKey()
        let serverKey = P256.Signing.PrivateKey()
        let start = now.addingTimeInterval(-86_400)
        let end = now.addingTimeInterval(validity)
        let rootName = try DistinguishedName { CommonName("Sealed Push local APNs \(Int(now.timeIntervalSince1970))") }
        let rootIdentifier = identifier(rootKey.publicKey)
        let root = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(rootKey.publicKey),
            notValidBefore: start, notValidAfter: end, issuer: rootName, subject: rootName,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
                SubjectKeyIdentifier(keyIdentifier: rootIdentifier)
            }, issuerPrivateKey: .init(rootKey))
        let server = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(serverKey.publicKey),
            notValidBefore: start, notValidAfter: end, issuer: rootName,
            subject: try DistinguishedName { CommonName("localhost") }, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(alternativeNames)
                SubjectKeyIdentifier(keyIdentifier: identifier(serverKey.publicKey))
                AuthorityKeyIdentifier(keyIdentifier: rootIdentifier)
            }, issuerPrivateKey: .init(rootKey))
        return LocalCertificate(
            rootPEM: try root.serializeAsPEM().pemString + "\n",
            certificatePEM: try server.serializeAsPEM().pemString + "\n", keyPEM: serverKey.pemRepresentation + "\n")
    }

    /// Whether a certificate is valid for at least another day.
    static func isGood(_ pem: String, at now: Date = Date()) -> Bool {
        guard let certificate = try? Certificate(pemEncoded: pem) else { return false }
        return certificate.notValidBefore <= now && certificate.notValidAfter > now.addingTimeInterval(86_400)
    }

    private static func identifier(_ key: P256.Signing.PublicKey) -> ArraySlice<UInt8> {
        Array(SHA256.hash(data: key.x963Representation))[..<20]
    }

    private static var alternativeNames: [GeneralName] {
        let addresses: [[UInt8]] = [[127, 0, 0, 1], Array(repeating: 0, count: 15) + [1]]
        return [.dnsName("localhost")] + addresses.map { .ipAddress(ASN1OctetString(contentBytes: $0[...])) }
    }
}
