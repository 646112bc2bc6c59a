import Testing

@testable import PushSimulator
@testable import SimulatedAPNs

@Suite("How many streams a connection has")
struct ThrottleTests {
    private func handled(_ reason: APNsReason?) -> LocalAPNsCore.Handled {
        LocalAPNsCore.Handled(apnsID: "", refusal: reason.map { APNsRefusal($0) }, fault: FaultDecision())
    }

    @Test("one until a push was accepted, one after an error, all again after a success")
    func limits() {
        var throttle = StreamThrottle(LocalAPNsConfiguration())
        for reason in [APNsReason.missingProviderToken, .badDeviceToken, .unregistered, .serviceUnavailable] {
            var fresh = StreamThrottle(LocalAPNsConfiguration())
            #expect(fresh.count(handled(reason)) == [], "no success yet")
            #expect(throttle.count(handled(reason)) == [])
        }
        #expect(throttle.count(handled(nil)) == [1_000])
        #expect(throttle.count(handled(nil)) == [])
        #expect(throttle.count(handled(.badDeviceToken)) == [1])
        #expect(throttle.count(handled(.badDeviceToken)) == [])
        #expect(throttle.count(handled(nil)) == [1_000])
        #expect(throttle.count(handled(.unregistered)) == [], "410 is no error condition")
        #expect(throttle.count(handled(.internalServerError)) == [], "nor is what the server did")
        #expect(throttle.count(handled(.tooManyRequests)) == [1])
    }

    @Test("the numbers are parameters")
    func parameters() {
        var configuration = LocalAPNsConfiguration()
        configuration.streamLimit = 500
        configuration.streamLimitAfterError = 10
        configuration.successesUntilRestored = 3
        var throttle = StreamThrottle(configuration)
        #expect(throttle.count(handled(nil)) == [500])
        #expect(throttle.count(handled(.badTopic)) == [10])
        #expect(throttle.count(handled(nil)) == [])
        #expect(throttle.count(handled(nil)) == [])
        #expect(throttle.count(handled(nil)) == [500])
    }

    @Test("too many errors end the connection, sooner with bad device tokens; successes make up for them")
    func patience() {
        var throttle = StreamThrottle(LocalAPNsConfiguration())
        for _ in 0..<49 { _ = throttle.count(handled(.badDeviceToken)) }
        #expect(!throttle.isOutOfPatience)
        _ = throttle.count(handled(.badDeviceToken))
        #expect(throttle.isOutOfPatience)
        var mixed = StreamThrottle(LocalAPNsConfiguration())
        for _ in 0..<10_000 {
            _ = mixed.count(handled(.tooManyRequests))
            for _ in 0..<10 { _ = mixed.count(handled(nil)) }
        }
        #expect(!mixed.isOutOfPatience)
    }
}
