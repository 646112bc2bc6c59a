import Foundation
import PushCore
import PushOutbox
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushHTTP

/// A user's phone, registered in a server's outbox, that opens its pushes.
struct NotifiedPhone {
    private let server: RunningServer
    private let opener: Opener
    private let taken = Collected<PushRequest>()

    init(of user: UserName, at server: RunningServer) async throws {
        let (key, enrollment, now) = (DevicePrivateKey(), EnrollmentPrivateKey(), Timestamp.now())
        let record = try DeviceRecord(
            of: [key.recipient], topic: RunningServer.topic, counter: 1, created: now,
            expires: now.advanced(bySeconds: 86_400), signedBy: enrollment)
        let device = try EnrolledDevice(loading: enrollment.enrollment, record: record, proven: [key.recipient])
        let address = try Address.apns(#require(DeviceToken(parsing: Hex.encode(key.recipient.bytes))), .production)
        try await server.outbox.register(
            RegisteredDevice(
                name: #require(DeviceName(parsing: "phone of \(user)")), user: user, topic: RunningServer.topic,
                keys: .enrolled(device), address: .active(address, registered: now)))
        self.server = server
        opener = Opener(
            topic: RunningServer.topic, keys: InMemoryKeyStore([DeviceKey(key, created: now.advanced(bySeconds: -60))]),
            trusting: [server.sender.sender])
    }

    /// Delivers all waiting pushes, and returns those that came since the last call, in order.
    func newPushes() async throws -> [(content: Content, request: PushRequest)] {
        let before = taken.all.count
        try await Courier(for: server.outbox, through: Taker(taken: taken)).run(until: .empty)
        return try taken.all.dropFirst(before).map { request in
            let members = try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
            let envelope = try Envelope(parsing: #require(members[Envelope.fieldName] as? String))
            return (try opener.open(envelope, at: .now()).content, request)
        }
    }

    private struct Taker: PushTransport {
        let taken: Collected<PushRequest>

        func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome {
            taken.add(request)
            return .accepted(uniqueID: nil)
        }
    }
}
