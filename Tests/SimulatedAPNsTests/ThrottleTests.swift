import Testing

@testable import SimulatedAPNs

@Suite("How many streams a connection has") struct ThrottleTests {
    @Test("a connection has one stream until a push was accepted, one after an error, and all again after a success")
    func limits() {
        func refusal(_ reason: APNsReason) -> APNsRefusal? { APNsRefusal(reason) }
        var throttle = StreamThrottle()
        for reason in [APNsReason.missingProviderToken, .badDeviceToken, .unregistered, .serviceUnavailable] {
            #expect(throttle.count(refusal(reason), afterError: 1) == nil, "no success yet")
        }
        #expect(throttle.count(nil, afterError: 1) == 1_000)
        #expect(throttle.count(nil, afterError: 1) == nil)
        #expect(throttle.count(refusal(.badDeviceToken), afterError: 1) == 1)
        #expect(throttle.count(refusal(.badDeviceToken), afterError: 1) == nil)
        #expect(throttle.count(nil, afterError: 1) == 1_000)
        #expect(throttle.count(refusal(.unregistered), afterError: 1) == nil, "410 is not an error condition")
        #expect(throttle.count(refusal(.internalServerError), afterError: 1) == nil, "nor is what the server did")
        #expect(throttle.count(refusal(.tooManyRequests), afterError: 10) == 10)
    }
}
