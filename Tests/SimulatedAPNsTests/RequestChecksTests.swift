import Foundation
import PushCore
import TestSupport
import Testing

@testable import PushSimulator
@testable import SimulatedAPNs

@Suite("The request checks of a local APNs") struct RequestChecksTests {
    /// A way to break a request, and the answer. In the order of the checks.
    struct Breakage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reason: String
        var headers: [String: String?] = [:]
        var repeated: [(String, String)] = []
        var method = "POST"
        var path: String?
        var body = #"{"aps":{"alert":"x"}}"#

        static func header(_ description: String, _ reason: String, _ name: String, _ value: String?) -> Breakage {
            Breakage(testDescription: description, reason: reason, headers: ["apns-" + name: value])
        }
    }

    private static let long = String(repeating: "x", count: 65)
    private static let other = String(repeating: "0", count: 64)

    static let inOrder: [Breakage] = [
        Breakage(testDescription: "GET", reason: "MethodNotAllowed", method: "GET"),
        Breakage(testDescription: "another path", reason: "BadPath", path: "/2/device/00"),
        Breakage(
            testDescription: "a repeated header", reason: "DuplicateHeaders",
            repeated: [("apns-priority", "10"), ("apns-priority", "10")]),
        Breakage(testDescription: "no provider token", reason: "MissingProviderToken", headers: ["authorization": nil]),
        .header("not a UUID", "BadMessageId", "id", "1"),
        .header("an unknown push type", "InvalidPushType", "push-type", "x"),
        .header("no topic", "MissingTopic", "topic", nil), .header("priority 7", "BadPriority", "priority", "7"),
        .header("not an expiration date", "BadExpirationDate", "expiration", "soon"),
        .header("65 bytes", "BadCollapseId", "collapse-id", long),
        Breakage(testDescription: "no body", reason: "PayloadEmpty", body: ""),
        Breakage(testDescription: "another's token", reason: "BadDeviceToken", path: "/3/device/\(other)"),
    ]

    static let more: [Breakage] =
        [
            Breakage(testDescription: "no device token", reason: "MissingDeviceToken", path: "/3/device/"),
            Breakage(testDescription: "no slash either", reason: "MissingDeviceToken", path: "/3/device"),
            Breakage(testDescription: "a longer word", reason: "BadPath", path: "/3/devices/00"),
            Breakage(testDescription: "no token at all", reason: "BadDeviceToken", path: "/3/device/zz"),
            .header("an empty topic", "MissingTopic", "topic", ""),
            .header("another app's topic", "DeviceTokenNotForTopic", "topic", "com.example.other"),
            .header("a UUID with a brace", "BadMessageId", "id", "{2c4a3a56-0000-4000-8000-000000000000"),
            Breakage(
                testDescription: "two topics", reason: "DuplicateHeaders", repeated: [("apns-topic", "com.example.app")]
            ), .header("a negative date", "BadExpirationDate", "expiration", "-1"),
            .header("an empty date", "BadExpirationDate", "expiration", ""),
            .header("a date beyond Int64", "BadExpirationDate", "expiration", "99999999999999999999"),
            Breakage(
                testDescription: "background at 10", reason: "BadPriority",
                headers: ["apns-push-type": "background", "apns-priority": "10"],
                body: #"{"aps":{"content-available":1}}"#),
            Breakage(
                testDescription: "basic authorization", reason: "MissingProviderToken",
                headers: ["authorization": "basic eA=="]),
            .header("an uppercase ID", "BadMessageId", "id", "2C4A3A56-0000-4000-8000-00000000ABCD"),
            .header("no push type", "InvalidPushType", "push-type", nil),
            Breakage(
                testDescription: "an alert without alert", reason: "InvalidPushType",
                body: #"{"aps":{"content-available":1}}"#),
            Breakage(
                testDescription: "background with an alert", reason: "InvalidPushType",
                headers: ["apns-push-type": "background", "apns-priority": "5"],
                body: #"{"aps":{"content-available":1,"alert":"x"}}"#),
            Breakage(
                testDescription: "background without a priority", reason: "BadPriority",
                headers: ["apns-push-type": "background"], body: #"{"aps":{"content-available":1}}"#),
            .header("another type's suffix", "BadTopic", "topic", "com.example.app.voip"),
            .header("an empty collapse ID", "BadCollapseId", "collapse-id", ""),
        ]
        + [
            "hello", "{}", #"{"aps":1}"#, #"[{"aps":{"alert":"x"}}]"#, #"{"aps":{"alert":"x"}} x"#,
            #"{"aps":{"alert":"x",}}"#, String(repeating: "[", count: 3_000),
        ].map { Breakage(testDescription: "the body \($0.prefix(30))", reason: "BadRequestPayload", body: $0) }

    @Test("each mistake gets Apple's reason", arguments: inOrder + more)
    func reasons(_ breakage: Breakage) throws {
        let fixture = try APNsFixture()
        #expect(fixture.answer(try fixture.request(breakage)) == breakage.reason)
        #expect(fixture.answer(try fixture.request()) == nil)
    }

    @Test("for two mistakes, the earlier check decides") func order() throws {
        let fixture = try APNsFixture()
        for (place, first) in Self.inOrder.enumerated() {
            for second in Self.inOrder[(place + 1)...] {
                // Two mistakes in the same header or place can't be combined.
                if first.path != nil, second.path != nil { continue }
                let reason = fixture.answer(try fixture.request(first, second))
                #expect(reason == first.reason, "\(first.testDescription) and \(second.testDescription)")
            }
        }
    }

    @Test("a valid request is accepted, and its ID is echoed or generated") func accepted() throws {
        let fixture = try APNsFixture()
        var identity = ConnectionIdentity()
        let id = "2c4a3a56-0000-4000-8000-00000000abcd"
        #expect(fixture.handled(try fixture.request(["apns-id": id]), &identity).apnsID == id)
        let made = fixture.handled(try fixture.request(), &identity)
        #expect(try fixture.request(["apns-id": made.apnsID]).apnsID == made.apnsID)
        #expect(made.refusal == nil)
        let collapse = String(repeating: "x", count: 64)
        #expect(fixture.answer(try fixture.request(["apns-collapse-id": collapse])) == nil)
    }

    @Test("every push type accepts only its own topic suffix", arguments: PushType.allCases)
    func suffixes(_ type: PushType) throws {
        let fixture = try APNsFixture()
        let body = type == .background ? #"{"aps":{"content-available":1}}"# : #"{"aps":{"alert":"x"}}"#
        for other in PushType.allCases {
            let headers = [
                "apns-push-type": type.rawValue, "apns-topic": APNsFixture.topic + other.topicSuffix,
                "apns-priority": "5",
            ]
            let expected = other.topicSuffix == type.topicSuffix ? nil : "BadTopic"
            #expect(fixture.answer(try fixture.request(headers, body: body)) == expected, "\(other)")
        }
    }

    @Test("the size limit is 5,120 bytes for VoIP and 4,096 for the rest", arguments: PushType.allCases)
    func sizes(_ type: PushType) throws {
        let fixture = try APNsFixture()
        let limit = type == .voip ? 5_120 : 4_096
        let headers = [
            "apns-push-type": type.rawValue, "apns-topic": APNsFixture.topic + type.topicSuffix, "apns-priority": "5",
        ]
        for (count, expected) in [(limit, nil), (limit + 1, "PayloadTooLarge"), (100_000, "PayloadTooLarge")] {
            let aps = type == .background ? #"{"content-available":1}"# : #"{"alert":"x"}"#
            let frame = #"{"aps":\#(aps),"e":""}"#
            let body = #"{"aps":\#(aps),"e":"\#(String(repeating: "A", count: count - frame.utf8.count))"}"#
            #expect(body.utf8.count == count)
            #expect(fixture.answer(try fixture.request(headers, body: body)) == expected)
        }
    }

    @Test("a token's state is reported with its time, in milliseconds") func states() throws {
        let fixture = try APNsFixture()
        var identity = ConnectionIdentity()
        for (state, reason) in [
            (LocalDeviceRecord.State.unregistered, LocalAPNsReason.unregistered), (.expired, .expiredToken),
        ] {
            #expect(fixture.registry.setState(state, token: fixture.device, since: 1_700_000_000_123))
            let refusal = fixture.handled(try fixture.request(), &identity).refusal
            #expect(refusal == LocalAPNsRefusal(reason, timestamp: 1_700_000_000_123))
            #expect(refusal?.reason.status == 410)
            #expect(refusal?.json == #"{"reason":"\#(reason.rawValue)","timestamp":1700000000123}"#)
        }
        #expect(fixture.registry.setState(.bad, token: fixture.device, since: nil))
        #expect(fixture.answer(try fixture.request()) == "BadDeviceToken")
        let renewed = fixture.registry.register(name: "phone", bundleID: APNsFixture.topic)
        #expect(renewed != fixture.device)
        #expect(fixture.answer(try fixture.request()) == "BadDeviceToken")
        #expect(fixture.answer(try fixture.request(path: "/3/device/\(renewed)")) == nil)
    }

    @Test("a replaced token keeps its own state, even across a restart") func replacedTokens() throws {
        let records = Locked<[LocalDeviceRecord]>([])
        let registry = DeviceRegistry(LocalAPNsConfiguration(), known: []) { record in
            records.withLock { $0.append(record) }
        }
        func register() -> String { registry.register(name: "phone", bundleID: APNsFixture.topic) }
        func refusal(_ token: String, _ registry: DeviceRegistry) -> LocalAPNsRefusal? {
            do throws(LocalAPNsRefusal) {
                _ = try registry.find(token, bundleID: APNsFixture.topic)
                return nil
            } catch { return error }
        }
        let first = register()
        #expect(registry.setState(.expired, token: first, since: 5))
        let second = register()
        #expect(second != first)
        #expect(refusal(first, registry) == LocalAPNsRefusal(.expiredToken, timestamp: 5))
        #expect(refusal(first.uppercased(), registry) == LocalAPNsRefusal(.expiredToken, timestamp: 5))
        #expect(registry.setState(.unregistered, token: first, since: 7))
        #expect(refusal(first, registry) == LocalAPNsRefusal(.unregistered, timestamp: 7))
        #expect(!registry.setState(.active, token: first, since: nil), "its device has another")
        #expect(refusal(second, registry) == nil)
        #expect(register() == second)

        let again = DeviceRegistry(LocalAPNsConfiguration(), known: records.withLock { $0 }) { _ in }
        #expect(refusal(first, again) == LocalAPNsRefusal(.unregistered, timestamp: 7))
        #expect(refusal(second, again) == nil)
        #expect(again.register(name: "phone", bundleID: APNsFixture.topic) == second)
        #expect(again.setState(.bad, token: first, since: nil))
        #expect(refusal(first, again) == LocalAPNsRefusal(.badDeviceToken))
    }

    @Test("an unregistered token is valid again once its device registers") func registeringAgain() throws {
        let fixture = try APNsFixture()
        #expect(fixture.registry.setState(.unregistered, token: fixture.device, since: nil))
        #expect(fixture.answer(try fixture.request()) == "Unregistered")
        #expect(fixture.registry.register(name: "phone", bundleID: APNsFixture.topic) == fixture.device)
        #expect(fixture.answer(try fixture.request()) == nil)
    }

    @Test("a connection has one stream until a push is accepted, one after an error, and all after a success")
    func limits() {
        func refusal(_ reason: LocalAPNsReason) -> LocalAPNsRefusal? { LocalAPNsRefusal(reason) }
        var throttle = StreamThrottle()
        for reason in [LocalAPNsReason.missingProviderToken, .badDeviceToken, .unregistered, .serviceUnavailable] {
            #expect(throttle.count(refusal(reason), afterError: 1) == nil, "no success yet")
        }
        #expect(throttle.count(nil, afterError: 1) == 1_000)
        #expect(throttle.count(nil, afterError: 1) == nil)
        #expect(throttle.count(refusal(.badDeviceToken), afterError: 1) == 1)
        #expect(throttle.count(refusal(.badDeviceToken), afterError: 1) == nil)
        #expect(throttle.count(nil, afterError: 1) == 1_000)
        #expect(throttle.count(refusal(.unregistered), afterError: 1) == nil, "410 isn't an error condition")
        #expect(throttle.count(refusal(.internalServerError), afterError: 1) == nil, "a server error isn't, either")
        #expect(throttle.count(refusal(.tooManyRequests), afterError: 10) == 10)
    }
}

extension APNsFixture {
    /// Returns a request that is broken in one or two ways.
    func request(_ first: RequestChecksTests.Breakage, _ second: RequestChecksTests.Breakage? = nil) throws
        -> ProviderRequest
    {
        let changes = [first, second].compactMap { $0 }
        var headers: [String: String?] = [:]
        for change in changes { headers.merge(change.headers) { first, _ in first } }
        return try request(
            headers, repeated: changes.flatMap { $0.repeated },
            method: changes.first { $0.method != "POST" }?.method ?? "POST", path: changes.compactMap { $0.path }.first,
            body: changes.contains { $0.body.isEmpty } ? "" : changes.map { $0.body }.last ?? "")
    }
}
