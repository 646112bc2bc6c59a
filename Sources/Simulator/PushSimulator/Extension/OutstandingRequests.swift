internal import Dispatch
internal import PushCore

/// The requests that one process works on: whose time is up, who has answered, and what was called too often or too
/// late.
///
/// Knows neither process nor clock: both come in.
struct OutstandingRequests {
    private let processStart: ContinuousClock.Instant
    private let timeLimit: Duration
    private var requests: [Int: Request] = [:]
    private var finished: [Int: String] = [:]
    private var count = 0
    /// What came for requests that are finished.
    private(set) var lateRemarks: [String] = []

    private struct Request {
        let identifier: String
        let ticket: ExtensionTicket
        let start: ContinuousClock.Instant
        let deadline: ContinuousClock.Instant
        var toldThatTimeIsUp: ContinuousClock.Instant?
        var answer: (content: ShownNotification, at: ContinuousClock.Instant)?
        var peak = 0
        var remarks: [String] = []
    }

    init(processStart: ContinuousClock.Instant, timeLimit: Duration) {
        self.processStart = processStart
        self.timeLimit = timeLimit
    }

    var isEmpty: Bool { requests.isEmpty }

    /// Returns the new request's number.
    mutating func add(_ identifier: String, _ ticket: ExtensionTicket, at now: ContinuousClock.Instant) -> Int {
        count += 1
        // The first one pays for the process's start (``ExtensionRules/timeLimit``).
        let start = count == 1 ? processStart : now
        requests[count] = Request(identifier: identifier, ticket: ticket, start: start, deadline: start + timeLimit)
        return count
    }

    mutating func receive(_ report: ExtensionReport, at now: ContinuousClock.Instant) {
        switch report {
        case .answer(let number, let content, let callNumber, let memoryByteCount):
            guard var request = requests[number] else {
                guard let identifier = finished[number] else { return }
                let what = callNumber > 1 ? "a second time" : "after its time was up"
                return remark("the extension called the handler of \(identifier) \(what): ignored")
            }
            if request.answer == nil {
                request.answer = (content, now)
                request.peak = max(request.peak, memoryByteCount)
            } else {
                request.remarks.append("the extension called its handler a second time: ignored")
            }
            requests[number] = request
            // Whoever is alone is waited for until it has tidied up; in a crowd that could take for ever.
            if requests.count > 1 { finish(number) }
        case .settled(let number): if requests[number]?.answer != nil { finish(number) }
        case .expanded(let number, let view): finish(number, .expanded(view), at: now)
        case .asksForList: break
        }
    }

    mutating func note(memory byteCount: Int) {
        for (number, request) in requests { requests[number]?.peak = max(request.peak, byteCount) }
    }

    struct Demand: Equatable {
        /// The extension is to be told that time is up.
        var expires = false
        /// The process is to be killed: it was told, and has not answered.
        var kills = false
    }

    mutating func advance(to now: ContinuousClock.Instant) -> Demand {
        var demand = Demand()
        for (number, request) in requests {
            if let answer = request.answer {
                if now >= answer.at + ExtensionRules.tidyTime { finish(number) }
            } else if let told = request.toldThatTimeIsUp {
                if now >= told + ExtensionRules.grace {
                    finish(number, .timedOut, at: now)
                    demand.kills = true
                }
            } else if now >= request.deadline {
                requests[number]?.toldThatTimeIsUp = now
                demand.expires = true
            }
        }
        return demand
    }

    /// The process is gone. What was answered stays answered.
    mutating func finishAll(_ ending: ExtensionResult.Ending, at now: ContinuousClock.Instant) {
        for (number, request) in requests {
            if request.answer == nil { finish(number, ending, at: now) } else { finish(number) }
        }
    }

    mutating func remark(_ text: String) { lateRemarks.append(text) }

    private mutating func finish(_ number: Int) {
        guard let answer = requests[number]?.answer else { return }
        finish(number, .returned(answer.content), at: answer.at)
    }

    private mutating func finish(_ number: Int, _ ending: ExtensionResult.Ending, at time: ContinuousClock.Instant) {
        guard let request = requests.removeValue(forKey: number) else { return }
        finished[number] = request.identifier
        finished[number - Self.rememberedCount] = nil
        request.ticket.complete(
            ExtensionResult(
                ending: ending, elapsed: time - request.start, peakMemoryByteCount: request.peak,
                remarks: request.remarks))
    }

    private static let rememberedCount = 1_000
}

/// What somebody who has handed over a request waits for.
final class ExtensionTicket: Sendable {
    private let finished = Locked<ExtensionResult?>(nil)
    private let isDone = DispatchSemaphore(value: 0)

    /// The first result counts.
    func complete(_ result: ExtensionResult) {
        finished.withLock { $0 = $0 ?? result }
        isDone.signal()
    }

    func wait() -> ExtensionResult {
        while true {
            isDone.wait()
            if let result { return result }
        }
    }

    /// Nil if there is none in time.
    func wait(for time: Duration) -> ExtensionResult? {
        _ = isDone.wait(timeout: .now() + time / .seconds(1))
        return result
    }

    var result: ExtensionResult? { finished.withLock { $0 } }
}
