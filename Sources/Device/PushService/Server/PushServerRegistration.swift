import Foundation
internal import PushCore
internal import SealedPush

struct PushServerRegistration {
    let device: OwnDevice
    let exchange: PushServerExchange
    let token: String
    let environment: PushEnvironment
    let now: Timestamp

    func run(_ record: DeviceRecord, _ update: inout PushServerUpdate) async throws(PushServerError) {
        var (record, answer) = (record, try await handOver(record))
        if answer.status == 409, let known = answer.members["record"]?.string {
            // This phone was put back from a backup: a record that counts higher.
            do throws(DeviceError) {
                guard let known = try? DeviceRecord(parsing: known) else { throw .record(.malformed) }
                record = try device.maintain(serverKnows: known, at: now).record
            } catch { throw .device(error) }
            answer = try await handOver(record)
        }
        try answer.requireSuccess()
        update.device = answer.members["device"]?.string
        var problems = try await prove(Self.challenges(in: answer))
        if problems.contains(where: Self.wantsNewChallenge) {
            // Late, or the server has forgotten what it asked: once more, from the record on.
            let answer = try await handOver(record)
            try answer.requireSuccess()
            problems = try await prove(Self.challenges(in: answer))
        }
        update.isRegistered = problems.isEmpty
        for problem in problems { update.note(.challenge, problem) }
    }

    private func handOver(_ record: DeviceRecord) async throws(PushServerError) -> PushServerExchange.Answer {
        let body: JSONValue = [
            "record": .string(record.description), "token": .string(token),
            "environment": .string(environment.rawValue),
        ]
        return try await exchange.send("PUT", path(record), body)
    }

    private func path(_ record: DeviceRecord) -> String { "v1/phones/\(record.enrollment)" }

    private static func challenges(
        in answer: PushServerExchange.Answer
    ) throws(PushServerError) -> [(enrollmentPath: String, text: String, state: String?)] {
        guard let value = answer.members["challenges"] else { return [] }
        guard case .array(let challenges) = value else { throw .malformedAnswer }
        var found: [(String, String, String?)] = []
        // A record has at most as many keys.
        for challenge in challenges.prefix(16) {
            guard let text = challenge["challenge"]?.string else { throw .malformedAnswer }
            found.append((answer.path, text, challenge["state"]?.string))
        }
        return found
    }

    /// Each for itself: one that is not answered keeps no other key from being proven.
    private func prove(
        _ challenges: [(enrollmentPath: String, text: String, state: String?)]
    ) async throws(PushServerError) -> [PushServerError] {
        var problems: [PushServerError] = []
        for (path, text, state) in challenges {
            do throws(PushServerError) {
                let answer: String
                do throws(ChallengeError) { answer = try device.answer(challenge: text, at: now) } catch {
                    throw .challenge(error)
                }
                let body: [String: JSONValue] = ["answer": .string(answer)]
                let said = state.map { body.merging(["state": .string($0)]) { $1 } } ?? body
                try await exchange.send("POST", "\(path)/answers", .object(said)).requireSuccess()
            } catch { problems.append(error) }
        }
        return problems
    }

    private static func wantsNewChallenge(_ error: PushServerError) -> Bool {
        guard case .refused(_, let code?) = error else { return false }
        return ["late", "unknown-challenge", "not-in-record", "foreign-enrollment"].contains(code)
    }
}

/// Requests to one server, inside one login.
struct PushServerExchange: Sendable {
    let url: URL
    let authorization: String
    let fetcher: any Fetching

    struct Answer {
        let path: String
        let status: Int
        let members: [String: JSONValue]

        func requireSuccess() throws(PushServerError) {
            guard !(200...299).contains(status) else { return }
            let code = members["code"]?.string.flatMap { Self.isCode($0) ? $0 : nil }
            throw .refused(status: status, code: code)
        }

        /// What goes into a log.
        private static func isCode(_ text: String) -> Bool {
            (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(\.isOfLabel)
        }
    }

    func send(_ verb: String, _ path: String, _ body: JSONValue? = nil) async throws(PushServerError) -> Answer {
        let collected = Locked<[UInt8]>([])
        var request = FetchRequest(url: url.appending(path: path), deadline: .now + Self.longestWait)
        request.verb = verb
        request.authorization = authorization
        if let body {
            var writer = JSONWriter(reservingByteCount: 2_048)
            writer.value(body)
            request.body = writer.bytes
            request.contentType = "application/json"
        }
        request.wantsBody = { _ in true }
        request.take = { (bytes) throws(MediaError) in
            let isTaken = collected.withLock { collected in
                guard collected.count + bytes.count <= Self.maximumAnswerByteCount else { return false }
                collected += bytes
                return true
            }
            guard isTaken else { throw .network }
        }
        let answer: FetchAnswer
        do throws(MediaError) { answer = try await fetcher.answer(to: request) } catch { throw .unreachable }
        let bytes = collected.withLock { $0 }
        guard let members = bytes.isEmpty ? [:] : JSONReader.object(bytes, maximumByteCount: bytes.count) else {
            // A proxy's page is no answer; that it says no is.
            if !(200...299).contains(answer.status) { throw .refused(status: answer.status, code: nil) }
            throw .malformedAnswer
        }
        return Answer(path: path, status: answer.status, members: members)
    }

    /// 16 challenges and their states are 9 KB.
    private static let maximumAnswerByteCount = 32_768
    private static let longestWait = Duration.seconds(10)
}
