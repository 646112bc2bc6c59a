import Crypto
import Foundation
import TestSupport

@testable import PushSimulator
@testable import SimulatedAPNs

/// A local APNs on real ports, with an offline device.
struct RunningAPNs: PushTarget {
    let folder: TemporaryFolder
    let server: LocalAPNs
    let token: String
    let authorization: String

    init(in folder: TemporaryFolder? = nil, _ change: (inout LocalAPNsConfiguration) -> Void = { _ in }) async throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        var configuration = LocalAPNsConfiguration()
        configuration.closingTime = .milliseconds(300)
        // Only tests of a time limit should reach one, even on a busy machine.
        configuration.handshakeTimeout = .seconds(600)
        configuration.requestTimeout = .seconds(600)
        change(&configuration)
        server = try await LocalAPNs.start(folder: folder.appending("APNs"), configuration: configuration)
        token = server.register(name: "phone", topic: APNsFixture.topic)
        authorization = try Self.authorization(server.address)
    }

    static func authorization(_ address: LocalAPNsAddress) throws -> String {
        let pem = try String(contentsOfFile: address.key ?? "", encoding: .utf8)
        let secret = try P256.Signing.PrivateKey(pemRepresentation: pem)
        let key = AcceptedProviderKey(keyID: address.keyID ?? "", teamID: address.teamID ?? "", publicKey: "")
        return try ProviderTokenMaker(key: key, secret: secret).authorization(
            issued: Int64(Date().timeIntervalSince1970))
    }

    var address: LocalAPNsAddress { server.address }

    /// Whether a new connection gets a 200, so that the server works.
    func works() async throws -> Bool {
        let client = try await WireClient(address)
        defer { Task { await client.close() } }
        return await send(client) == 200
    }
}

/// A device of a local APNs, and what a provider needs to push to it.
protocol PushTarget {
    var token: String { get }
    var authorization: String { get }
}

extension PushTarget {
    func headers(
        path: String? = nil, authorization: String? = nil, _ more: [(String, String)] = []
    ) -> [(String, String)] {
        [
            (":method", "POST"), (":scheme", "https"), (":path", path ?? "/3/device/\(token)"),
            (":authority", "localhost"), ("authorization", authorization ?? self.authorization),
            ("apns-topic", APNsFixture.topic),
            ("apns-push-type", "alert"),
        ] + more
    }

    /// Sends one valid request, or one to another path, and waits for its end. Returns the status, or nil if there is none.
    func send(_ client: WireClient, path: String? = nil, body: String = #"{"aps":{"alert":"x"}}"#) async -> Int? {
        let stream = client.send(headers(path: path), body: body)
        return await client.wait { $0.ended.contains(stream) || $0.reset.contains(stream) || $0.isClosed }.status[
            stream]
    }
}
