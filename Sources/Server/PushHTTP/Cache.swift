internal import PushCore
internal import SealedPush

/// Answers that cost much: each is made once for all who ask meanwhile, and kept for a second. Safe from many threads.
///
/// A failure is kept as long, since it may have cost as much.
final class Cache<Question: Hashable & Sendable, Answer: Sendable>: Sendable {
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let make: @Sendable (Question) async throws -> Answer
    private let turn = Semaphore(1)
    private let state = Locked(State())

    private struct State {
        var making: [Question: Task<Answer, any Error>] = [:]
        var kept: [Question: (answer: Result<Answer, any Error>, end: ContinuousClock.Instant)] = [:]
        var waitingCount = 0
    }

    init(
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        _ make: @escaping @Sendable (Question) async throws -> Answer
    ) {
        self.clock = clock
        self.make = make
    }

    /// The number of callers that have no answer yet.
    var waitingCount: Int { state.withLock { $0.waitingCount } }

    func value(_ question: Question) async throws -> Answer {
        let now = clock()
        let (kept, making) = state.withLock { state -> (Result<Answer, any Error>?, Task<Answer, any Error>?) in
            if let kept = state.kept[question], now < kept.end { return (kept.answer, nil) }
            state.waitingCount += 1
            if let making = state.making[question] { return (nil, making) }
            // Not the caller's own task: the first caller may leave before the others have their answer.
            let making = Task { try await self.made(question) }
            state.making[question] = making
            return (nil, making)
        }
        if let kept { return try kept.get() }
        defer { state.withLock { $0.waitingCount -= 1 } }
        guard let making else { preconditionFailure("an answer is kept or being made") }
        return try await making.value
    }

    private func made(_ question: Question) async throws -> Answer {
        await turn.enter()
        defer { turn.leave() }
        let answer: Result<Answer, any Error>
        do { answer = .success(try await make(question)) } catch { answer = .failure(error) }
        let now = clock()
        state.withLock { state in
            state.making[question] = nil
            state.kept = state.kept.filter { now < $0.value.end }
            state.kept[question] = (answer, now + .seconds(1))
        }
        return try answer.get()
    }
}

/// Public keys and records by their text: to parse and check one takes longer than to seal for it. Safe from many threads.
///
/// The same text always means the same. At 4,096 texts it begins anew.
final class ParsedTexts: Sendable {
    private let values = Locked<[Text: any Sendable]>([:])

    /// Equal to itself alone: a string also equals others that look the same.
    private struct Text: Hashable {
        let text: String

        static func == (one: Text, other: Text) -> Bool {
            one.text.utf8.count == other.text.utf8.count && one.text == other.text
        }
    }

    func value<Value: Sendable>(_ text: String, _ parse: (String) throws -> Value) rethrows -> Value {
        let key = Text(text: text)
        if let value = values.withLock({ $0[key] }) as? Value { return value }
        let value = try parse(text)
        values.withLock { values in
            if values.count >= 4_096 { values.removeAll() }
            values[key] = value
        }
        return value
    }

    func recipient(_ text: String) -> KnownRecipient? {
        try? value(text) { KnownRecipient(key: try DevicePublicKey(parsing: $0)) }
    }
}

/// A device's key and its text.
final class KnownRecipient: Sendable {
    let key: DevicePublicKey
    let text: String

    init(key: DevicePublicKey) {
        self.key = key
        text = key.description
    }
}
