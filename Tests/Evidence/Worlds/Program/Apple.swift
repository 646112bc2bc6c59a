import Foundation
import PushAPNs
import PushSender
import SealedPush

/// Apple's push service in a world: it refuses, loses, delays, repeats, and reorders, as the real one may.
final class Apple: PushTransport {
    private let world: World
    private let host: Host

    /// The way of one server to Apple.
    init(_ host: Host, in world: World) { (self.host, self.world) = (host, world) }

    func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome {
        let weather = world.weather
        await world.sleep(upTo: weather.milliseconds)
        if host.isDead || Task.isCancelled { throw .canceled }
        if world.chance(weather.losesRequests) {
            throw world.chance(50) ? .unreachable("lost") : .timedOut
        }
        let outcome = answer(request, weather)
        await world.sleep(upTo: weather.milliseconds)
        if host.isDead || Task.isCancelled { throw .canceled }
        if world.chance(weather.losesAnswers) { throw world.chance(50) ? .connectionLost("lost") : .timedOut }
        return outcome
    }

    private func answer(_ request: PushRequest, _ weather: Weather) -> PushOutcome {
        let (oracle, token) = (world.oracle!, request.address.bytes)
        guard let (phone, end) = world.tokens[token] else { return refuse(request, 400, .badDeviceToken) }
        if let end { return refuse(request, 410, .unregistered, timestamp: weather.isOdd ? nil : end) }
        if world.chance(weather.refuses) {
            let kinds: [(Int, APNsReason?)] = [
                (503, .serviceUnavailable), (500, .internalServerError), (429, .tooManyRequests), (503, .shutdown),
                (429, .tooManyProviderTokenUpdates), (502, nil), (418, nil), (400, .badDeviceToken),
            ]
            let (status, reason) = kinds[world.number(0..<(weather.isOdd ? kinds.count : 6))]
            return refuse(request, status, reason)
        }
        oracle.accepted(request, for: phone)
        let count = world.chance(weather.repeats) ? world.number(2..<4) : 1
        for _ in 0..<count { world.phones[phone].bring(request, token: token, after: weather.milliseconds) }
        return .accepted(uniqueID: nil)
    }

    private func refuse(
        _ request: PushRequest, _ status: Int, _ reason: APNsReason?, timestamp: Timestamp? = nil
    ) -> PushOutcome {
        world.oracle.refused(
            request, AppleRefusal(status: status, reason: reason?.rawValue, hasTime: timestamp != nil))
        return APNsRefusal(status: status, reason: reason, timestamp: timestamp).outcome
    }
}
