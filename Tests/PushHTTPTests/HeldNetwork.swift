import Foundation
import PushCore
import PushHTTP
import PushService

/// A phone's network that holds each request until a test decides what becomes of it. Runs the phone's operations one at a
/// time, so that a step of a model ends when the phone waits for the network or has nothing left to do.
struct HeldNetwork {
    /// The end of a request: the server's answer, or nil if it was lost.
    typealias Answer = (status: Int, body: [UInt8])?

    /// A request that the phone has sent and waits for.
    struct Request: Sendable {
        let method: String
        let path: String
        let headers: [(name: String, value: String)]
        let body: [UInt8]
        fileprivate let end: CheckedContinuation<Answer, Never>
    }

    fileprivate enum Event: Sendable {
        case sent(Request)
        case ended
    }

    /// The network, as the phone sees it.
    struct Fetcher: Fetching {
        private let events: AsyncStream<Event>.Continuation

        fileprivate init(_ events: AsyncStream<Event>.Continuation) { self.events = events }

        fileprivate func end() { events.yield(.ended) }

        /// The test decides when a request ends, so no time limit may.
        var patience: Duration { .seconds(3_600) }

        func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer {
            let answer = await withCheckedContinuation { end in
                let sent = Request(
                    method: request.method, path: request.url.path, headers: request.headers, body: request.body ?? [],
                    end: end)
                events.yield(.sent(sent))
            }
            guard let answer else { throw .network }
            let head = FetchAnswer(status: answer.status) { _ in nil }
            guard try request.wantsBody(head) else { return head }
            let taken = answer.body.withUnsafeBytes { bytes in
                Result { () throws(MediaError) in try request.take(bytes) }
            }
            try taken.get()
            return head
        }
    }

    let fetcher: Fetcher
    /// The request that the phone waits for; nil if it does nothing.
    private(set) var held: Request?
    private var events: AsyncStream<Event>.Iterator
    private var runningCount = 0

    init() {
        let (stream, continuation) = AsyncStream<Event>.makeStream()
        (fetcher, events) = (Fetcher(continuation), stream.makeAsyncIterator())
    }

    /// Whether operations wait or run.
    var isBusy: Bool { runningCount > 0 }

    /// Starts an operation of the phone, and returns when the phone waits for the network or has ended all operations.
    mutating func run(_ operation: @escaping @Sendable () async -> Void) async {
        runningCount += 1
        Task { [fetcher] in
            await operation()
            fetcher.end()
        }
        await settle()
    }

    /// Ends the held request, and returns when the phone waits again or has ended all operations.
    mutating func end(with answer: Answer) async {
        held?.end.resume(returning: answer)
        held = nil
        await settle()
    }

    /// Loses the held request and all that the phone sends then, until it has ended all operations.
    mutating func loseEverything() async { while held != nil { await end(with: nil) } }

    private mutating func settle() async {
        while held == nil, runningCount > 0, let event = await events.next(isolation: #isolation) {
            switch event {
            case .sent(let request): held = request
            case .ended: runningCount -= 1
            }
        }
    }
}

extension UnconnectedPhones {
    /// Answers a phone's request; with a login, as if another account had sent it.
    func answer(_ request: HeldNetwork.Request, login: String? = nil) async throws -> (status: Int, body: [UInt8]) {
        var headers = request.headers
        if let login {
            headers = headers.filter { $0.name != "Authorization" } + [("Authorization", "Bearer \(login)")]
        }
        return try await answer(request.method, request.path, headers: headers, body: request.body)
    }
}
