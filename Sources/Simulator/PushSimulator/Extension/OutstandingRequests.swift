/// The requests that one process is handling. Tracks which are out of time, which are answered, and which called the
/// handler too often or too late.
///
/// It has no access to the process or the clock; the caller passes in reports and times.
struct OutstandingRequests {
    private let processStart: ContinuousClock.Instant
    private let timeLimit: Duration
    private var requests: [Int: Request] = [:]
    private var finished: [Int: String] = [:]
    private var count = 0
    /// The remarks about reports that arrived after their requests had finished.
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
        // The first request's time includes process startup (``ExtensionRules/timeLimit``).
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
                return remark("the extension called the handler of \(identifier) \(what) (ignored)")
            }
            if request.answer == nil {
                request.answer = (content, now)
                request.peak = max(request.peak, memoryByteCount)
            } else {
                request.remarks.append("the extension called its handler a second time (ignored)")
            }
            requests[number] = request
            // A single request is held until its cleanup is done; with several, that could take forever.
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
        /// Whether to tell the extension that its time is up.
        var expires = false
        /// Whether to kill the process, because it was told but hasn't answered.
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

    /// Finishes all requests because the process has exited. Earlier answers still count.
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
