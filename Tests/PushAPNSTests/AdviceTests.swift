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
        ] as [(Int, String, PushAdvice)])
    func reasons(status: Int, reason: String, advice: PushAdvice) {
        #expect(PushRefusal(status: status, reason: reason).advice == advice)
    }

    @Test(
        "where the reason is missing or new the status decides",
        arguments: [
            (400, .unknown), (401, .fixKeys), (403, .fixKeys), (404, .change), (405, .change), (413, .change),
            (429, .wait), (500, .wait), (502, .wait), (503, .wait), (302, .unknown), (418, .unknown), (410, .unknown),
        ] as [(Int, PushAdvice)])
    func statuses(status: Int, advice: PushAdvice) {
        #expect(PushRefusal(status: status, reason: nil).advice == advice)
        #expect(PushRefusal(status: status, reason: "SomethingNew").advice == advice)
    }

    @Test("a 410 drops a token only with a reason that says so and a timestamp")
    func gone() {
        for reason in ["Unregistered", "ExpiredToken"] {
            #expect(PushRefusal(status: 410, reason: reason, timestamp: Self.since).advice == .drop)
            #expect(PushRefusal(status: 410, reason: reason).advice == .unknown)
            #expect(PushRefusal(status: 400, reason: reason, timestamp: Self.since).advice == .unknown)
        }
        for reason in [nil, "SomethingNew", "BadDeviceToken"] {
            #expect(PushRefusal(status: 410, reason: reason, timestamp: Self.since).advice == .unknown)
        }
    }
}
