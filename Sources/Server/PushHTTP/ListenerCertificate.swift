internal import Foundation
internal import NIOCore
internal import NIOSSL
internal import PushCore

/// A certificate chain and its key, both in PEM.
package struct ListenerCertificate: Sendable {
    let chain: [NIOSSLCertificateSource]
    let key: NIOSSLPrivateKeySource
    /// The earliest expiration in the chain, in seconds since 1970.
    let expiry: Int64?
    /// Whether the server's own certificate has expired, so that clients refuse it.
    package let hasExpired: Bool

    /// Parses the bytes of both files; a byte order mark is skipped.
    package init(chain: [UInt8], key: [UInt8]) throws(CertificateFault) {
        let certificates = try Self.certificates(chain)
        let key = NIOSSLPrivateKeySource.privateKey(try Self.key(key))
        guard Self.fits(certificates, key) else {
            let isLater = certificates.dropFirst().contains { Self.fits([$0], key) }
            throw CertificateFault(isLater ? .wrongOrder : .otherCertificate, in: isLater ? .chain : .key)
        }
        self.chain = certificates.map { .certificate($0) }
        self.key = key
        expiry = certificates.map { Int64($0.notValidAfter) }.min()
        hasExpired = Int64(certificates[0].notValidAfter) < Int64(Date().timeIntervalSince1970)
    }

    private static func certificates(_ bytes: [UInt8]) throws(CertificateFault) -> [NIOSSLCertificate] {
        let bytes = Array(bytes.withoutByteOrderMark)
        try requirePEM(bytes, "-----BEGIN CERTIFICATE-----", in: .chain, other: "PRIVATE KEY-----")
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty
        else { throw CertificateFault(.damaged, in: .chain) }
        return certificates
    }

    private static func key(_ bytes: [UInt8]) throws(CertificateFault) -> NIOSSLPrivateKey {
        try requirePEM(bytes, "PRIVATE KEY-----", in: .key, other: "-----BEGIN CERTIFICATE-----")
        guard !["-----BEGIN ENCRYPTED PRIVATE KEY-----", "Proc-Type: 4,ENCRYPTED"].contains(where: { has(bytes, $0) })
        else { throw CertificateFault(.encrypted, in: .key) }
        var copy = bytes.hasByteOrderMark ? Array(bytes.withoutByteOrderMark) : []
        defer { wipe(&copy) }
        guard let key = try? NIOSSLPrivateKey(bytes: copy.isEmpty ? bytes : copy, format: .pem)
        else { throw CertificateFault(.damaged, in: .key) }
        return key
    }

    private static func requirePEM(
        _ bytes: [UInt8], _ label: String, in file: CertificateFault.File, other: String
    ) throws(CertificateFault) {
        guard !bytes.trimmingSpace.isEmpty else { throw CertificateFault(.empty, in: file) }
        guard has(bytes, label) else { throw CertificateFault(has(bytes, other) ? .exchanged : .notPEM, in: file) }
    }

    private static func has(_ bytes: [UInt8], _ text: String) -> Bool { bytes.firstRange(of: Array(text.utf8)) != nil }

    /// Whether the key belongs to the first certificate.
    private static func fits(_ certificates: [NIOSSLCertificate], _ key: NIOSSLPrivateKeySource) -> Bool {
        let configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) }, privateKey: key)
        return (try? NIOSSLContext(configuration: configuration)) != nil
    }

    /// - Parameter current: Returns the certificate for a new connection, which may be replaced later.
    func configuration(_ current: @escaping @Sendable () -> ListenerCertificate?) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: key)
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        configuration.sslContextCallback = { _, promise in
            var override = NIOSSLContextConfigurationOverride()
            if let certificate = current() {
                (override.certificateChain, override.privateKey) = (certificate.chain, certificate.key)
            }
            promise.succeed(override)
        }
        return configuration
    }
}
