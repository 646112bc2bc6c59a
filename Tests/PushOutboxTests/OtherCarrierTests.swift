import Foundation
import FoundationNetworking
import GRDB
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

/// A service other than Apple's, as an integrator would add it: each sealed payload is posted to a URL, and the answers
/// have their own reasons. Only this type knows them.
struct PostOffice: PushTransport {
    static let carrier = Carrier("post-office")!

    func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome {
        guard request.address.carrier == Self.carrier,
            let url = URL(string: String(decoding: request.address.bytes, as: UTF8.self))
        else { return .change(PushReason("no-address")) }
        var post = URLRequest(url: url)
        post.httpMethod = "POST"
        // On a busy machine, an answer may take longer than the minute that a session waits otherwise.
        post.timeoutInterval = 600
        post.httpBody = Data(request.body)
        let (body, response): (Data, URLResponse)
        do {
            (body, response) = try await URLSession.shared.data(for: post)
        } catch { throw .unreachable("the post office is closed") }
        guard let answer = response as? HTTPURLResponse else { throw .unreachable("it is not a post office") }
        return outcome(answer, String(decoding: body, as: UTF8.self))
    }

    private func outcome(_ answer: HTTPURLResponse, _ words: String) -> PushOutcome {
        func number(_ header: String) -> Int64 { Int64(answer.value(forHTTPHeaderField: header) ?? "") ?? 0 }
        switch answer.statusCode {
        case 202: return .accepted(uniqueID: answer.value(forHTTPHeaderField: "Letter"))
        case 402: return .stop(PushReason(words, problem: "the post office wants its rent"))
        case 404: return .addressRefused(PushReason(words, problem: "is this the right town? \(words)."))
        case 410: return .gone(since: Timestamp(clamping: number("Since")), PushReason(words))
        case 413: return .change(PushReason(words))
        case 429: return .later(.exactly(.seconds(number("Retry-After"))), PushReason(words))
        default: return .later(.doubtful, PushReason("status \(answer.statusCode)"))
        }
    }
}

@Suite("A carrier other than Apple", .overForms) struct OtherCarrierTests {
    private let fixture: Fixture
    private let server: PostServer

    init() async throws {
        fixture = try await Fixture()
        server = try PostServer()
    }

    private func addBox(_ name: String, identity: DevicePrivateKey = DevicePrivateKey()) async throws {
        let url = "http://127.0.0.1:\(server.port)/\(name)"
        try await fixture.addDevice(name, identity: identity, address: Address(Array(url.utf8), of: PostOffice.carrier))
    }

    private func deliver(from outbox: Outbox? = nil) async throws -> CourierReport {
        try await fixture.deliver(PostOffice(), from: outbox, carrier: PostOffice.carrier, until: .empty, inFlight: 1)
    }

    private static func answer(_ status: Int, _ words: String, _ header: String = "X: y") -> String {
        """
        HTTP/1.1 \(status) X\r\nContent-Length: \(words.utf8.count)\r\nConnection: close\r\n\(header)\r\n\r\n\(words)
        """
    }

    @Test(
        "a carrier's outcomes are handled under its own reasons; another carrier's devices are not affected",
        .withAlerts)
    func outcomes() async throws {
        let phone = DevicePrivateKey()
        try await addBox("taken", identity: phone)
        for name in ["gone", "unknown", "long", "busy", "odd"] { try await addBox(name) }
        try await fixture.addDevice("apple")
        let (time, gone) = (fixture.time, fixture.now.advanced(bySeconds: 1).secondsSince1970)
        let busy = Collected<Int64>()
        server.behave(
            .replies { path in
                switch path {
                case "/taken": return Self.answer(202, "", "Letter: 7")
                case "/gone": return Self.answer(410, "moved away", "Since: \(gone)")
                case "/unknown": return Self.answer(404, "no such box")
                case "/long": return Self.answer(413, "does not fit the slot")
                case "/busy":
                    busy.add(time.now)
                    return busy.all.count == 1
                        ? Self.answer(429, "slow down", "Retry-After: 3000") : Self.answer(202, "")
                default: return Self.answer(418, "?")
                }
            })
        // An address can't be known to be gone later than the push was sent.
        time.advance(by: .seconds(2))
        try await fixture.enqueue("Lunch at one?", to: .everyone)
        let report = try await deliver()

        #expect(report.acceptedCount == 2)
        #expect(report.deferred == ["slow down": 1, "status 418": 2])
        #expect(report.dropped == ["moved away": 1])
        #expect(report.refused == ["no such box": 1, "does not fit the slot": 1, "status 418": 1])
        #expect(busy.all.count == 2 && busy.all[1] - busy.all[0] >= 3_000_000)
        let address = try #require(try await fixture.outbox.device("taken")?.address.address)
        let index = try #require(server.heads.firstIndex { $0.hasPrefix("POST /taken ") })
        let posted = PushRequest(
            address: address, body: server.bodies[index], topic: Fixture.topic, apnsID: "", collapseID: "",
            priority: .immediate, expiration: nil)
        #expect(try fixture.body(of: posted, for: phone) == "Lunch at one?")

        #expect(try await fixture.outbox.device("gone")?.address == .none(PostOffice.carrier, reason: "moved away"))
        guard case .disabled(_, _, "no such box") = try await fixture.outbox.device("unknown")?.address else {
            Issue.record("the address is not disabled")
            return
        }
        let status = try await fixture.outbox.status()
        #expect(status.waitingDevices == [.apns(): 1] && status.waitingCount == 1)
        #expect(try await fixture.deliver(until: .empty).acceptedCount == 1)
    }

    @Test("a reason that stops the run is reported in the carrier's own words, and no push is lost") func stopped()
        async throws
    {
        for name in ["a", "b"] { try await addBox(name) }
        server.behave(.replies { _ in Self.answer(402, "unpaid") })
        try await fixture.enqueue(to: .everyone)
        let expected = CourierError.senderRefused(reason: "unpaid", problem: "the post office wants its rent")
        await #expect(throws: expected) { try await deliver() }
        #expect(expected.description == "the post office wants its rent")
        let status = try await fixture.outbox.status()
        #expect(status.waitingCount == 2 && status.queues.due == 2)
        server.behave(.replies { _ in Self.answer(202, "") })
        #expect(try await deliver().acceptedCount == 2)
    }

    @Test("waiting pushes go to the new carrier when a device changes it, and a reopened outbox knows the carrier")
    func changing() async throws {
        try await fixture.addPhone()
        let url = "http://127.0.0.1:\(server.port)/box"
        let address = try #require(Address(Array(url.utf8), of: PostOffice.carrier))
        try await fixture.outbox.setAddress(address, of: "phone", at: fixture.now)
        #expect(try await fixture.deliver().attemptCount == 0)
        server.behave(.answers(202))
        let again = try await fixture.reopened()
        #expect(try await again.device("phone")?.address == .active(address, registered: fixture.now))
        #expect(try await again.status().waitingDevices == [PostOffice.carrier: 1])
        #expect(try await deliver(from: again).acceptedCount == 1)
    }

    @Test("carriers' names and addresses have limits") func limits() {
        for name in ["", "Post", "post office", "ä", String(repeating: "a", count: 33)] {
            #expect(Carrier(name) == nil)
        }
        #expect(Carrier("apns") == .apns() && Carrier("apns-sandbox")?.environment == .sandbox)
        #expect(PostOffice.carrier.environment == nil)
        #expect(Address([], of: PostOffice.carrier) == nil)
        #expect(Address(Array(repeating: 1, count: 1_025), of: PostOffice.carrier) == nil)
        #expect(Address(Array(repeating: 1, count: 101), of: .apns()) == nil)
        #expect(Address([1, 2, 3, 4, 5], of: PostOffice.carrier)?.logged == "01020304…")
        let shown = Address(Array("secret path".utf8), of: PostOffice.carrier).map { "\($0) \(String(reflecting: $0))" }
        #expect(shown == "post-office 73656372… post-office 73656372…")
    }
}
