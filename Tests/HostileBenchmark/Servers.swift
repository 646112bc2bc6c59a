import Foundation
import HostilePeers
import NIOSSL

/// Servers in a process of their own, so that what they use is not counted as the client's.
struct Servers {
    private let deeds: [HostileDeed?]
    private let folder: URL

    init(_ deeds: [HostileDeed?], in folder: URL) {
        self.deeds = deeds
        self.folder = folder
    }

    /// Until SIGTERM. A file says which server has which port, and at the end another what they have sent.
    func run(sayingTo name: String) async throws {
        func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(path("server.pem")).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: path("server.key"), format: .pem)))
        configuration.applicationProtocols = ["h2"]
        let tls = try NIOSSLContext(configuration: configuration)
        var servers: [(deed: HostileDeed?, server: HostileServer)] = []
        for deed in deeds { servers.append((deed, try await HostileServer(deed, tls: tls))) }
        let ports = servers.map { "\($0.deed?.rawValue ?? "good") \($0.server.port)\n" }.joined()
        try Data(ports.utf8).write(to: folder.appending(path: name), options: .atomic)

        await ended()
        let totals = servers.map { deed, server in
            "\(deed?.rawValue ?? "good") \(server.seen.endCount) \(server.seen.byteCount)\n"
        }.joined()
        try Data(totals.utf8).write(to: folder.appending(path: "\(name).sent"), options: .atomic)
    }

    private func ended() async {
        signal(SIGTERM, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGTERM)
        await withCheckedContinuation { continuation in
            source.setEventHandler { continuation.resume() }
            source.resume()
        }
        source.cancel()
    }
}
