import Foundation
internal import PushCore
internal import PushSender
internal import PushService
internal import SealedPush

/// The server of an app's pushes on a test device. Like any other, it verifies records, answers, and leavings, but it doesn't
/// check logins. Source: Docs/EnrollmentHTTP.md.
final class TestServer: Sendable {
    /// Where it is, and which app and service it serves.
    struct Place: Equatable, Sendable {
        let url: URL
        let topic: Topic
        let service: ServiceName?
    }

    let place: Place
    private let sender: SenderPrivateKey
    private let phones = Locked<[String: Phone]>([:])

    private struct Phone {
        var device: EnrolledDevice
        var token: String
        var challenges: [PendingChallenge] = []
    }

    struct Answer {
        var status: Int
        var body: JSONValue?
    }

    init(at place: Place, sender: SenderPrivateKey) { (self.place, self.sender) = (place, sender) }

    private var topic: Topic { place.topic }

    /// Whether there is a phone to send to: it has handed over a token, and proven a key.
    var hasPhone: Bool { phones.withLock { $0.values.contains { !$0.device.proven.isEmpty } } }

    /// Returns the answer to a request; nil if it isn't for this server.
    func answer(to request: FetchRequest, at now: Timestamp) -> Answer? {
        var start = place.url.absoluteString
        if !start.hasSuffix("/") { start += "/" }
        guard request.url.absoluteString.hasPrefix(start) else { return nil }
        let path = request.url.absoluteString.dropFirst(start.count).split(separator: "/").map(String.init)
        let body = request.body.flatMap { JSONReader.object($0, maximumByteCount: 65_536) } ?? [:]
        let isLoggedIn = request.headers.contains { $0.name == "Authorization" }
        return phones.withLock { phones in
            if request.method == "POST", path == ["v1", "leavings"] { return leave(body, &phones) }
            guard isLoggedIn else { return Answer(status: 401, body: ["code": "unauthorized"]) }
            guard path.starts(with: ["v1", "phones"]), path.count > 2 else {
                // It has no sender set.
                return Answer(status: path == ["v1", "sender-set"] ? 204 : 404)
            }
            let enrollment = path[2]
            switch (request.method, path.dropFirst(3).first) {
            case ("PUT", nil): return register(enrollment, body, &phones, at: now)
            case ("POST", "answers"): return prove(enrollment, body, &phones, at: now)
            case ("POST", "test"):
                guard let phone = phones[enrollment] else { return Answer(status: 404) }
                let isProven = !phone.device.proven.isEmpty
                return Answer(
                    status: 200,
                    body: isProven
                        ? ["enqueued": 1, "skipped": [:]] : ["enqueued": 0, "skipped": ["unproven": 1]])
            case ("DELETE", nil):
                phones[enrollment] = nil
                return Answer(status: 204)
            default: return Answer(status: 404)
            }
        }
    }

    private func register(
        _ enrollment: String, _ body: [String: JSONValue], _ phones: inout [String: Phone], at now: Timestamp
    ) -> Answer {
        guard let record = body["record"]?.string.flatMap({ try? DeviceRecord(parsing: $0) }),
            record.enrollment.description == enrollment, let token = body["token"]?.string,
            DeviceToken(parsing: token) != nil,
            body["environment"]?.string.flatMap(PushEnvironment.init(rawValue:)) != nil
        else { return Answer(status: 400, body: ["code": "malformed"]) }
        var phone: Phone
        do throws(RecordError) {
            if let known = phones[enrollment] {
                phone = known
                try phone.device.accept(record, at: now)
                phone.token = token
            } else {
                phone = Phone(device: try EnrolledDevice(pinning: record, topic: topic, at: now), token: token)
            }
        } catch {
            let known = phones[enrollment]?.device.record.description
            return Answer(
                status: 409,
                body: ["code": .string(error.rawValue), "record": known.map(JSONValue.string) ?? .null])
        }
        phone.challenges = phone.device.unproven.map {
            PendingChallenge(to: $0, of: record.enrollment, topic: topic, from: sender, at: now)
        }
        phones[enrollment] = phone
        return Answer(
            status: 200,
            body: [
                "device": "test-device",
                "challenges": .array(phone.challenges.map { ["challenge": .string($0.text)] }),
            ])
    }

    private func prove(
        _ enrollment: String, _ body: [String: JSONValue], _ phones: inout [String: Phone], at now: Timestamp
    ) -> Answer {
        guard var phone = phones[enrollment], let answer = body["answer"]?.string else {
            return Answer(status: 400, body: ["code": "malformed"])
        }
        for challenge in phone.challenges where (try? phone.device.prove(challenge, answer: answer, at: now)) != nil {
            phones[enrollment] = phone
            return Answer(status: 204)
        }
        return Answer(status: 409, body: ["code": "wrong-answer"])
    }

    private func leave(_ body: [String: JSONValue], _ phones: inout [String: Phone]) -> Answer {
        guard let text = body["leaving"]?.string,
            let leaving = try? Leaving(parsing: text, topic: topic, service: place.service)
        else { return Answer(status: 400, body: ["code": "malformed"]) }
        phones = phones.filter { !leaving.ends($0.value.device.record) }
        return Answer(status: 204)
    }
}
