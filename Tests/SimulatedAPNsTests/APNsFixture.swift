import Crypto
import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import PushCore
import SealedPush
import TestSupport

@testable import PushSimulator
@testable import SimulatedAPNs

/// The core of a local APNs without a network, with a provider's key, a fixed clock, and an offline device.
final class APNsFixture: Sendable {
    static let topic = "com.example.app"
    static let start: Int64 = 1_750_000_000
    let core: LocalAPNsCore
    let registry: DeviceRegistry
    let key: AcceptedProviderKey
    let device: String
    private let secret: P256.Signing.PrivateKey
    private let clock: Locked<Int64>

    init(_ change: (inout LocalAPNsConfiguration) -> Void = { _ in }) throws {
        let clock = Locked(Self.start * 1_000)
        var configuration = LocalAPNsConfiguration()
        configuration.log = .off
        configuration.now = { clock.withLock { $0 } }
        change(&configuration)
        self.clock = clock
        let (key, p8) = AcceptedProviderKey.make()
        self.key = key
        secret = try P256.Signing.PrivateKey(pemRepresentation: p8)
        registry = DeviceRegistry(configuration, known: []) { _ in }
        device = registry.register(name: "phone", bundleID: Self.topic)
        core = LocalAPNsCore(
            configuration, tokens: ProviderTokens([key]), registry: registry,
            log: try APNsLog(URL(filePath: "/dev/null"), detail: .off))
    }

    var now: Int64 {
        get { clock.withLock { $0 } / 1_000 }
        set { clock.withLock { $0 = newValue * 1_000 } }
    }

    /// Returns `bearer TOKEN`, valid by default.
    func authorization(
        issued: Int64? = nil, header: String? = nil, claims: String? = nil, secret: P256.Signing.PrivateKey? = nil
    ) throws -> String {
        try ProviderTokenMaker(key: key, secret: secret ?? self.secret).authorization(
            issued: issued ?? now, header: header, claims: claims)
    }

    /// Returns a valid request with the given changes.
    func request(
        _ headers: [String: String?] = [:], repeated: [(String, String)] = [], method: String = "POST",
        path: String? = nil, body: String = #"{"aps":{"alert":"x"}}"#
    ) throws -> ProviderRequest {
        var all: [String: String?] = [
            "authorization": try authorization(), "apns-topic": Self.topic, "apns-push-type": "alert",
        ]
        all.merge(headers) { _, given in given }
        var list = HPACKHeaders([(":method", method), (":scheme", "https"), (":path", path ?? "/3/device/\(device)")])
        for (name, value) in all { if let value { list.add(name: name, value: value) } }
        for (name, value) in repeated { list.add(name: name, value: value) }
        var request = ProviderRequest(list)
        var bytes = ByteBuffer(string: body)
        request.append(&bytes)
        return request
    }

    /// Returns the reason, or nil if the request was accepted. Without an identity, it's on its own connection.
    func answer(_ request: ProviderRequest) -> String? {
        var identity = ConnectionIdentity()
        return answer(request, &identity)
    }

    func answer(_ request: ProviderRequest, _ identity: inout ConnectionIdentity) -> String? {
        handled(request, &identity).refusal?.reason.rawValue
    }

    func handled(_ request: ProviderRequest, _ identity: inout ConnectionIdentity) -> LocalAPNsCore.Handled {
        core.handle(request, identity: &identity, connection: 1, stream: 1)
    }
}

/// Signs provider tokens.
struct ProviderTokenMaker {
    let key: AcceptedProviderKey
    let secret: P256.Signing.PrivateKey

    func authorization(issued: Int64, header: String? = nil, claims: String? = nil) throws -> String {
        let header = header ?? #"{"alg":"ES256","kid":"\#(key.keyID)"}"#
        let claims = claims ?? #"{"iss":"\#(key.teamID)","iat":\#(issued)}"#
        let signed = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(claims.utf8)))"
        let signature = try secret.signature(for: Data(signed.utf8))
        return "bearer \(signed).\(Base64URL.encode(Array(signature.rawRepresentation)))"
    }
}

/// A link to online devices that records what they are sent.
final class RecordingLink: DeviceLink {
    private let received = Locked<[(number: UInt64, token: String, notification: APNsNotification)]>([])

    func send(number: UInt64, token: String, _ notification: APNsNotification) {
        received.withLock { $0.append((number, token, notification)) }
    }

    var all: [(number: UInt64, token: String, notification: APNsNotification)] { received.withLock { $0 } }

    /// The alerts in the payloads.
    var alerts: [String] {
        all.map { entry in
            let object = try? JSONSerialization.jsonObject(with: Data(entry.notification.payload)) as? [String: Any]
            return (object?["aps"] as? [String: Any])?["alert"] as? String ?? ""
        }
    }
}
