import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushAPNs

@Suite("Requests and responses")
struct AnswerTests {
    @Test("a push arrives with Apple's headers and its body, and its unique ID is returned")
    func accepted() async throws {
        let rig = try await Rig { $0.accept(uniqueID: "unique-1") }
        let request = Rig.request(7, expiration: Timestamp(secondsSince1970: 1_900_000_000))
        let answer = try await rig.transport.deliver(request)

        #expect(answer == .accepted(uniqueID: "unique-1"))
        let seen = try #require(rig.server.seen.requests.first)
        #expect(seen.body == request.body)
        let expected: [(String, String)] = [
            (":method", "POST"), (":scheme", "https"), (":path", "/3/device/" + request.address.hexadecimal),
            (":authority", "localhost:\(rig.server.port)"), ("apns-topic", "com.example.app"),
            ("apns-push-type", "alert"), ("apns-priority", "10"), ("apns-id", request.apnsID),
            ("apns-collapse-id", request.collapseID), ("apns-expiration", "1900000000"),
        ]
        for (name, value) in expected { #expect(seen.headers[name] == [value], "\(name)") }
        #expect(seen.header("authorization")?.hasPrefix("bearer ey") == true)
        #expect(seen.headers.count == expected.count + 1)
    }

    @Test("printing a push shows its ID and the token's first digits, but not the whole token or its body")
    func printed() {
        let request = Rig.request(7)
        var dumped = ""
        dump(request, to: &dumped)
        dump([request: Optional(request)], to: &dumped)
        for text in ["\(request)", String(reflecting: request), "\([request])", "\(Optional(request) as Any)", dumped] {
            #expect(text.contains(request.apnsID) && text.contains(request.address.logged))
            #expect(!text.contains(request.address.hexadecimal) && !text.contains("123"))
        }
    }

    @Test(
        "a refusal has a status, a reason, and a timestamp",
        arguments: [
            (400, "BadDeviceToken", nil), (410, "Unregistered", 1_700_000_000_123), (413, "PayloadTooLarge", nil),
            (429, "TooManyRequests", nil), (500, "InternalServerError", nil), (400, "SomethingNew", nil),
        ] as [(Int, String, Int?)])
    func refused(status: Int, reason: String, timestamp: Int?) async throws {
        let rig = try await Rig { $0.refuse(status, reason, timestamp: timestamp) }
        let time = timestamp.flatMap { Timestamp(secondsSince1970: Int64($0 / 1_000)) }
        #expect(
            await rig.outcome().refusal
                == APNsRefusal(status: status, reason: APNsReason(rawValue: reason), timestamp: time))
        #expect(await rig.outcome().refusal?.status == status, "the connection continues")
        #expect(rig.server.seen.connectionCount == 1)
    }

    @Test(
        "a body that APNs wouldn't send keeps its status",
        arguments: [
            "", "<html>bad gateway</html>", "{\"reason\":\"BadDev", "[]", "\"BadTopic\"", "{\"reason\":7}",
            "{\"reason\":{\"reason\":\"BadTopic\"}}", String(repeating: "[", count: 4_000), "{\"timestamp\":-5}",
            "{\"reason\":\"\"}", "\u{ff}\u{fe}",
        ])
    func strangeBodies(body: String) async throws {
        let rig = try await Rig { $0.answer(502, body: Array(body.utf8)) }
        #expect(await rig.outcome().refusal == APNsRefusal(status: 502, reason: nil, timestamp: nil))
    }

    @Test("a body of a megabyte keeps its status, is not read completely, and doesn't block other responses")
    func hugeBody() async throws {
        let rig = try await Rig { exchange in
            if exchange.push == 0 {
                exchange.answer(500, body: [UInt8](repeating: 0x20, count: 16_384), ends: false)
                for _ in 0..<60 {
                    exchange.connection.send(
                        .data(.init(data: .byteBuffer(.init(repeating: 0x20, count: 16_384)))), on: exchange.streamID)
                }
            } else {
                exchange.refuse(400, "BadTopic")
            }
        }
        for _ in 0..<10 { #expect(await rig.outcome(0).refusal == APNsRefusal(status: 500, reason: nil)) }
        #expect(await rig.outcome(1).refusal?.reason == .badTopic)
        try await eventually("the stream is reset") { rig.server.seen.resetCount == 10 }
        #expect(rig.server.seen.connectionCount == 1, "the connection's window was replenished")
    }

    @Test("an unknown reason is passed on, with at most 64 printable characters")
    func unknownReason() async throws {
        #expect(ErrorBody(Array("{\"reason\":\"Neu\\n\\u001b[31m\"}".utf8)).reason?.rawValue == "Neu  [31m")
        let long = String(repeating: "x", count: 100)
        #expect(ErrorBody(Array("{\"reason\":\"\(long)\"}".utf8)).reason?.rawValue == String(repeating: "x", count: 64))
        let combining = "e" + String(repeating: "\u{301}", count: 1_000)
        let reason = try #require(ErrorBody(Array("{\"reason\":\"\(combining)\"}".utf8)).reason)
        #expect(reason.rawValue.utf8.count <= 256)
    }

    @Test("an error body that is truncated at any length is read or ignored, and never traps") func cutBodies() {
        let whole = Array("{\"reason\":\"Unregistered\",\"timestamp\":1700000000000}".utf8)
        for length in 0..<whole.count { #expect(ErrorBody(Array(whole.prefix(length))).reason == nil) }
        #expect(ErrorBody(whole).reason == .unregistered)
    }

    @Test("200 is a response, whatever happens to the stream afterward", arguments: [0, 1, 2])
    func unfinished(end: Int) async throws {
        let rig = try await Rig { exchange in
            if exchange.push == 1 { return exchange.accept() }
            exchange.connection.send(
                .headers(.init(headers: [":status": "200"], endStream: false)), on: exchange.streamID)
            switch end {
            case 0: exchange.connection.cut()
            case 1: exchange.reset(.internalError)
            default: break
            }
        }
        rig.trust([0, 1])
        #expect(await rig.outcome(1).isAccepted)
        async let outcome = rig.outcome()
        if end == 2 {
            try await eventually("it is sent") { rig.server.seen.requests.count == 2 }
            // On the same connection, so anything sent earlier has also arrived.
            #expect(await rig.outcome(1).isAccepted)
            rig.clock.advance(.seconds(30))
        }
        #expect(await outcome == .success(.accepted(uniqueID: nil)))
    }
}

@Suite("Advice for refusals") struct AdviceTests {
    private static let since = Timestamp(secondsSince1970: 1_700_000_000)

    @Test("each response in Tests/Vectors/Text/apns.tsv has its advice") func vectors() throws {
        let advice: [Substring: APNsAdvice] = [
            "gone": .drop, "refused": .drop, "retry": .wait, "wrong": .change, "stop": .fixKeys, "unknown": .unknown,
        ]
        let text = try Checkout.text(Checkout.folder.appending(path: "Tests/Vectors/Text/apns.tsv"))
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.count == 67)
        for line in lines {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
            let refusal = APNsRefusal(
                status: try #require(Int(parts[0])),
                reason: parts[1].isEmpty ? nil : APNsReason(rawValue: String(parts[1])),
                timestamp: Int64(parts[2]).flatMap { Timestamp(secondsSince1970: $0 / 1_000) })
            #expect(refusal.advice == advice[parts[3]], "\(line)")
            let isGone = if case .gone = refusal.outcome { true } else { false }
            #expect(isGone == (parts[3] == "gone"), "\(line)")
        }
    }

    @Test("each refusal has an outcome that a sender for any service understands") func outcomes() throws {
        func outcome(_ status: Int, _ reason: String?, _ timestamp: Timestamp? = nil) -> PushOutcome {
            APNsRefusal(status: status, reason: reason.map(APNsReason.init), timestamp: timestamp).outcome
        }
        let since = try #require(Self.since)
        #expect(outcome(410, "Unregistered", since) == .gone(since: since, PushReason("Unregistered")))
        #expect(outcome(410, "Unregistered") == .later(.doubtful, PushReason("Unregistered")))
        for (status, reason, delay) in [
            (429, "TooManyRequests", PushDelay.device), (429, "TooManyProviderTokenUpdates", .everything),
            (400, "IdleTimeout", .connection), (503, "Shutdown", .connection),
            (403, "ExpiredProviderToken", .connection),
            (403, "UnrelatedKeyIdInToken", .connection), (500, "InternalServerError", .service),
            (503, "ServiceUnavailable", .service), (418, "Teapot", .doubtful),
        ] {
            #expect(outcome(status, reason) == .later(delay, PushReason(reason)), "\(reason)")
        }
        #expect(outcome(429, nil) == .later(.device, PushReason("status 429")))
        #expect(outcome(502, nil) == .later(.service, PushReason("status 502")))
        #expect(outcome(413, "PayloadTooLarge") == .change(PushReason("PayloadTooLarge")))
        // Reasons that may concern the whole setup have a problem.
        for reason in ["BadDeviceToken", "DeviceTokenNotForTopic", "BadTopic", "MissingTopic", "TopicDisallowed"] {
            let found = outcome(400, reason)
            #expect(found.reason?.name == reason && found.reason?.problem?.contains(reason) == true)
            switch found {
            case .addressRefused: #expect(reason.contains("Token"))
            case .change: #expect(["BadTopic", "MissingTopic"].contains(reason))
            case .later(.service, _): #expect(reason == "TopicDisallowed")
            default: Issue.record("\(found)")
            }
        }
        for (status, reason) in [(403, "InvalidProviderToken"), (403, "Forbidden"), (401, nil)] {
            guard case .stop(let found) = outcome(status, reason) else {
                Issue.record("it goes on after \(status)")
                continue
            }
            #expect(found.problem?.contains("\(status)") == true)
        }
    }

    @Test("a delivery's outcome corresponds to APNs' response, and another carrier's address is not sent to")
    func delivered() async throws {
        let rig = try await Rig { $0.refuse(413, "PayloadTooLarge") }
        #expect(try await rig.transport.deliver(Rig.request()) == .change(PushReason("PayloadTooLarge")))
        let own = Rig.request()
        let carrier = try #require(Carrier("post"))
        let other = PushRequest(
            address: try #require(Address(own.address.bytes, of: carrier)), body: own.body,
            topic: own.topic, apnsID: own.apnsID, collapseID: own.collapseID, priority: .immediate, expiration: nil)
        #expect(try await rig.transport.deliver(other) == .change(PushReason("not-an-apns-address")))
    }
}
