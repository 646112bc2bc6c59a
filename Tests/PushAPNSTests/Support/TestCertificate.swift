import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// A certificate authority of the moment and a server's certificate from it.
struct TestCertificate: Sendable {
    /// What a client has to trust, as PEM.
    let rootPEM: [UInt8]
    private let chain: [NIOSSLCertificateSource]
    private let key: NIOSSLPrivateKeySource

    /// For `localhost`, made once for all tests that need nothing else.
    static let shared = TestCertificate()

    init(host: String = "localhost", validFrom: Date = .now - 3_600, validUntil: Date = .now + 3_600) {
        do {
            let rootKey = P256.Signing.PrivateKey()
            let rootName = try DistinguishedName { CommonName("Test Root") }
            let root = try Certificate(
                version: .v3, serialNumber: .init(), publicKey: .init(rootKey.publicKey),
                notValidBefore: .now - 86_400, notValidAfter: .now + 86_400, issuer: rootName, subject: rootName,
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                },
                issuerPrivateKey: .init(rootKey))
            let leafKey = P256.Signing.PrivateKey()
            let leaf = try Certificate(
                version: .v3, serialNumber: .init(), publicKey: .init(leafKey.publicKey), notValidBefore: validFrom,
                notValidAfter: validUntil, issuer: rootName, subject: try DistinguishedName { CommonName(host) },
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions { SubjectAlternativeNames([.dnsName(host)]) },
                issuerPrivateKey: .init(rootKey))
            rootPEM = Array(try root.serializeAsPEM().pemString.utf8)
            let leafPEM = Array(try leaf.serializeAsPEM().pemString.utf8)
            chain = [.certificate(try NIOSSLCertificate(bytes: leafPEM, format: .pem))]
            key = .privateKey(try NIOSSLPrivateKey(bytes: Array(leafKey.pemRepresentation.utf8), format: .pem))
        } catch {
            preconditionFailure("no certificate could be made: \(error)")
        }
    }

    func serverContext(protocols: [String]) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: key)
        configuration.applicationProtocols = protocols
        return try NIOSSLContext(configuration: configuration)
    }
}
