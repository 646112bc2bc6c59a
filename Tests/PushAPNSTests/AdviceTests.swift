import PushAPNS
import PushSender
import SealedPush
import Testing

@Suite("What to do about a refusal")
struct AdviceTests {
    private static let since = Timestamp(secondsSince1970: 1_700_000_000)

    @Test(
        "each reason of Apple's has its advice",
        arguments: [
            (400, "BadCollapseId", .change), (400, "BadDeviceToken", .drop), (400, "BadExpirationDate", .change),
            (400, "BadMessageId", .change), (400, "BadPriority", .change), (400, "BadTopic", .change),
            (400, "DeviceTokenNotForTopic", .drop), (400, "DuplicateHeaders", .change), (400, "IdleTimeout", .wait),
            (400, "InvalidPushType", .change), (400, "MissingDeviceToken", .change), (400, "MissingTopic", .change),
            (400, "PayloadEmpty", .change), (400, "TopicDisallowed", .fixKeys), (400, "BadRequestPayload", .change),
            (403, "BadCertificate", .fixKeys), (403, "BadCertificateEnvironment", .fixKeys),
            (403, "ExpiredProviderToken", .wait), (403, "Forbidden", .fixKeys), (403, "InvalidProviderToken", .fixKeys),
            (403, "MissingProviderToken", .fixKeys), (403, "UnrelatedKeyIdInToken", .wait),
            (403, "BadEnvironmentKeyIdInToken", .fixKeys), (403, "BadEnvironmentKeyInToken", .fixKeys),
            (404, "BadPath", .change), (405, "MethodNotAllowed", .change), (413, "PayloadTooLarge", .change),
            (429, "TooManyProviderTokenUpdates", .wait), (429, "TooManyRequests", .wait),
            (500, "InternalServerError", .wait), (503, "ServiceUnavailable", .wait), (503, "Shutdown", .wait),
        ] as [(Int, String, APNSAdvice)])
    func reasons(status: Int, reason: String, advice: APNSAdvice) {
        #expect(APNSRefusal(status: status, reason: reason).advice == advice)
    }

    @Test(
        "where the reason is missing or new the status decides",
        arguments: [
            (400, .unknown), (401, .fixKeys), (403, .fixKeys), (404, .change), (405, .change), (413, .change),
            (429, .wait), (500, .wait), (502, .wait), (503, .wait), (302, .unknown), (418, .unknown), (410, .unknown),
        ] as [(Int, APNSAdvice)])
    func statuses(status: Int, advice: APNSAdvice) {
        #expect(APNSRefusal(status: status, reason: nil).advice == advice)
        #expect(APNSRefusal(status: status, reason: "SomethingNew").advice == advice)
    }

    @Test("a 410 drops a token only with a reason that says so and a timestamp")
    func gone() {
        for reason in ["Unregistered", "ExpiredToken"] {
            #expect(APNSRefusal(status: 410, reason: reason, timestamp: Self.since).advice == .drop)
            #expect(APNSRefusal(status: 410, reason: reason).advice == .unknown)
            #expect(APNSRefusal(status: 400, reason: reason, timestamp: Self.since).advice == .unknown)
        }
        for reason in [nil, "SomethingNew", "BadDeviceToken"] {
            #expect(APNSRefusal(status: 410, reason: reason, timestamp: Self.since).advice == .unknown)
        }
    }

    @Test("each refusal has the outcome that a sender of any service understands")
    func outcomes() throws {
        func outcome(_ status: Int, _ reason: String?, _ timestamp: Timestamp? = nil) -> PushOutcome {
            APNSRefusal(status: status, reason: reason, timestamp: timestamp).outcome
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
        // What may be about the whole set-up says so.
        for reason in ["BadDeviceToken", "DeviceTokenNotForTopic", "BadTopic", "MissingTopic", "TopicDisallowed"] {
            let found = outcome(400, reason)
            #expect(found.reason?.name == reason && found.reason?.problem?.contains(reason) == true)
            switch found {
            case .refused: #expect(reason.contains("Token"))
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

    @Test("what is sent says by its outcome what APNs has answered, and another carrier's address is not sent to")
    func delivered() async throws {
        var behavior = ServerBehavior()
        behavior.onRequest = { $0.refuse(413, "PayloadTooLarge") }
        let rig = try await Rig(behavior)
        #expect(try await rig.transport.deliver(Rig.request()) == .change(PushReason("PayloadTooLarge")))
        let own = Rig.request()
        let carrier = try #require(Carrier("post"))
        let other = PushRequest(
            address: try #require(Address(own.address.bytes, of: carrier)), body: own.body,
            topic: own.topic, apnsID: own.apnsID, collapseID: own.collapseID, priority: .immediate, expiration: nil)
        #expect(try await rig.transport.deliver(other) == .change(PushReason("not-an-apns-address")))
        await rig.stop()
    }
}
