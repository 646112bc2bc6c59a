import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import PushSender
import TestSupport
import Testing

@testable import PushAPNS
@testable import SimulatedAPNs

@Suite("A server's certificate, from end to end", .serialized) struct CertificateTests {
    enum Fault: String, CaseIterable, Sendable {
        case expired, otherRoot, otherName, noHTTP2

        var words: String {
            switch self {
            case .expired, .otherRoot: "the server's certificate is not trusted or has expired"
            case .otherName: "the server's certificate is for another name"
            case .noHTTP2: "the server does not offer HTTP/2 (ALPN h2)"
            }
        }
    }

    @Test("what is wrong with it is said, nothing is sent, and the right one is taken", arguments: Fault.allCases)
    func faults(_ fault: Fault) async throws {
        let ends = try await BothEnds { $0.host = "0.0.0.0" }
        let folder = ends.folder.appending("APNs")
        func text(_ name: String) throws -> String {
            try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }
        let good = ServerCertificate(
            rootPEM: try text("root.pem"), certificatePEM: try text("server.pem"), keyPEM: try text("server-key.pem"))
        let expired = try ServerCertificate.make(at: .now - 400 * 86_400)
        let bad: ServerCertificate =
            switch fault {
            case .expired: expired
            case .otherRoot: try ServerCertificate.make()
            case .otherName, .noHTTP2: good
            }
        // The expired one's root is trusted, so that its age is all that is wrong.
        let roots = ends.root + (fault == .expired ? Data(expired.rootPEM.utf8) : Data())
        let first = try await Self.listen(ends, bad, protocols: fault == .noHTTP2 ? ["http/1.1"] : ["h2"])
        let port = try #require(first.localAddress?.port)
        // The certificate is for 127.0.0.1, and not for 127.0.0.2.
        let host = fault == .otherName ? "127.0.0.2" : "127.0.0.1"
        let transport = try BothEnds.transport(to: port, host: host, key: ends.key, root: roots, ends.clock)
        let token = try ends.device()
        let outcome = await ends.deliver(ends.push(to: token), over: transport)
        #expect(outcome.error == .unreachable(fault.words))
        #expect(outcome.error?.mayHaveBeenDelivered == false)
        #expect(ends.server.deviceCounts.waiting == 0)

        if fault == .otherName {
            let named = try BothEnds.transport(to: port, host: "127.0.0.1", key: ends.key, root: roots, ends.clock)
            #expect(await ends.deliver(ends.push(to: token), over: named).isAccepted)
            await named.shutDown()
            try await first.close()
        } else {
            try await first.close()
            var second: (any Channel)?
            // On a busy machine somebody may have the port for a moment.
            try await eventually("the port is free") {
                second = try? await Self.listen(ends, good, port: port)
                return second != nil
            }
            try await eventually("the right certificate is found") {
                await ends.deliver(ends.push(to: token), over: transport).isAccepted
            }
            try await second?.close()
        }
        await transport.shutDown()
        await ends.stop()
    }

    /// The local APNs once more, on another port.
    static func listen(
        _ ends: BothEnds, _ certificate: ServerCertificate, protocols: [String] = ["h2"], port: Int = 0
    ) async throws -> any Channel {
        let shared = ends.server.core
        var configuration = shared.configuration
        configuration.port = port
        let core = LocalAPNsCore(configuration, tokens: shared.tokens, registry: shared.registry, log: shared.log)
        guard protocols == ["h2"] else {
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificatePEM.utf8)).map {
                    .certificate($0)
                }, privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(certificate.keyPEM.utf8), format: .pem)))
            tls.applicationProtocols = protocols
            let context = try NIOSSLContext(configuration: tls)
            return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                }.bind(host: configuration.host, port: port).get()
        }
        return try await ProviderListener(core: core, certificate: certificate).bind(
            MultiThreadedEventLoopGroup.singleton)
    }
}
