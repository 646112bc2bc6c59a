import Dispatch
import Foundation
internal import PushCore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The loader of Apple's systems. On Linux Foundation's takes its place, for the tests: what it can't do is in
/// Docs/Decisions/0023-downloads.md.
package struct SessionFetching: Fetching {
    package init() {}

    package func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer {
        if let mayConnect = request.mayConnect {
            guard let host = NetworkHost(request.url) else { throw .addressRefused }
            try await LookUps.shared.check(host, mayConnect)
        }
        return try await SessionTransfer(request).run()
    }
}

private final class SessionTransfer: NSObject, URLSessionDataDelegate, Sendable {
    private let request: FetchRequest
    private let cancelling = TaskCancelling()
    private let state = Locked(State())

    private struct State {
        var continuation: CheckedContinuation<Result<FetchAnswer, MediaError>, Never>?
        var isOver = false
        /// One whose body is wanted.
        var answer: FetchAnswer?
    }

    init(_ request: FetchRequest) { self.request = request }

    func run() async throws(MediaError) -> FetchAnswer {
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: DelegateQueue())
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: urlRequest)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !state.isOver { state.continuation = continuation }
                    return state.isOver
                }
                if isOver { return continuation.resume(returning: .failure(.network)) }
                task.resume()
            }
        } onCancel: {
            settle(.failure(.network))
            cancelling.cancel(task)
        }
        return try result.get()
    }

    private var urlRequest: URLRequest {
        var urlRequest = URLRequest(url: request.url, cachePolicy: .reloadIgnoringLocalCacheData)
        urlRequest.httpShouldHandleCookies = false
        for (name, value) in request.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        urlRequest.httpMethod = request.method
        if let body = request.body { urlRequest.httpBody = Data(body) }
        return urlRequest
    }

    /// Nothing is kept, nothing but the request is told.
    private var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.timeoutIntervalForRequest = 10
        // The deadline itself is a cancellation, which is exact; this is for a process that was suspended.
        configuration.timeoutIntervalForResource = max(1, (request.deadline - .now) / .seconds(1)) + 1
        return configuration
    }

    /// The first result counts. What the loader brings after that is dropped; it has been told to stop by then, or is.
    private func settle(_ result: Result<FetchAnswer, MediaError>) {
        let continuation = state.withLock { state in
            state.isOver = true
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: result)
    }

    private var isOver: Bool { state.withLock { $0.isOver } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        // Without a new request, the redirect itself is the answer.
        cancelling.answer(completionHandler, refusal: nil) {
            _ = wantsBody(of: response)
            return nil
        }
        cancelling.cancel(task)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        cancelling.answer(completionHandler, refusal: .cancel) { wantsBody(of: response) ? .allow : .cancel }
        // Linux's loader would go on reading.
        if isOver { cancelling.cancel(dataTask) }
    }

    private func wantsBody(of response: URLResponse) -> Bool {
        guard !isOver else { return false }
        do throws(MediaError) {
            guard let http = response as? HTTPURLResponse else { throw .network }
            let answer = FetchAnswer(status: http.statusCode) { http.value(forHTTPHeaderField: $0) }
            guard try request.wantsBody(answer) else {
                settle(.success(answer))
                return false
            }
            state.withLock { $0.answer = answer }
            return true
        } catch {
            settle(.failure(error))
            return false
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard !isOver else { return }
        do throws(MediaError) {
            try data.lend(request.take)
        } catch {
            settle(.failure(error))
            cancelling.cancel(dataTask)
        }
    }

    #if !canImport(FoundationNetworking)
        /// Apple tells which addresses there were connections to; Linux's Foundation does not.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            for transaction in metrics.transactionMetrics where !transaction.isProxyConnection {
                guard let address = transaction.remoteAddress.flatMap(IPAddress.init(text:)) else { continue }
                do throws(MediaError) { try request.mayConnect?(address) } catch { settle(.failure(error)) }
            }
        }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let answer = error == nil ? state.withLock { $0.answer } : nil
        settle(answer.map(Result.success) ?? .failure(.network))
    }
}

extension Data {
    fileprivate func lend(_ body: (UnsafeRawBufferPointer) throws(MediaError) -> Void) throws(MediaError) {
        let result = withUnsafeBytes { bytes -> Result<Void, MediaError> in
            do throws(MediaError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        try result.get()
    }
}

/// Where a session calls its delegate: one call after the other. Unchecked, as its superclass is; a semaphore is safe.
private final class DelegateQueue: OperationQueue, @unchecked Sendable {
    override init() {
        super.init()
        maxConcurrentOperationCount = 1
        name = "sealed-push.fetch"
    }

    #if canImport(FoundationNetworking)
        // Apple's loader waits for its delegate; Linux's goes on reading, and a fast server would fill the memory with
        // what the delegate has yet to take. So the loader's own thread waits here.
        private let room = DispatchSemaphore(value: 16)

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            room.wait()
            super.addOperation { [room] in
                block()
                room.signal()
            }
        }
    #endif
}

/// Cancels a session's task, from any thread.
///
/// Linux's loader stops the whole process when a delegate's answer, to a redirect or a response, meets a task that was
/// cancelled before it came in. So there a cancel waits until an answer has been taken in, and after one there are no more
/// answers.
private final class TaskCancelling: Sendable {
    private let state = Locked(State.quiet)

    private enum State {
        case quiet
        /// A cancel may have to wait for it.
        case answering(isCancelled: Bool)
        case answered(ContinuousClock.Instant)
        case cancelled
    }

    /// On a thread of its own: the loader may be waiting for the very delegate that cancels.
    func cancel(_ task: URLSessionTask) {
        StageExecutor.queue().async { [self] in
            while !mayCancel() { Thread.sleep(forTimeInterval: 0.01) }
            task.cancel()
        }
    }

    /// Asks `body` for an answer and returns it with `answer`; `refusal` where the task is to be cancelled meanwhile.
    func answer<Answer>(_ answer: (Answer) -> Void, refusal: Answer, _ body: () -> Answer) {
        let isTooLate = state.withLock { state in
            if case .cancelled = state { return true }
            state = .answering(isCancelled: false)
            return false
        }
        #if canImport(FoundationNetworking)
            if isTooLate { return }
        #endif
        let wanted = isTooLate ? refusal : body()
        let isCancelled = state.withLock { state in
            if case .answering(isCancelled: true) = state { return true }
            return isTooLate
        }
        answer(isCancelled ? refusal : wanted)
        state.withLock { state in if case .answering = state { state = .answered(.now) } }
    }

    private func mayCancel() -> Bool {
        state.withLock { state in
            switch state {
            case .answering:
                state = .answering(isCancelled: true)
                return false
            case .answered(let moment) where ContinuousClock.now - moment < Self.takingIn: return false
            case .quiet, .answered, .cancelled:
                state = .cancelled
                return true
            }
        }
    }

    /// How long an answer is on its way into the loader.
    private static let takingIn: Duration = {
        #if canImport(FoundationNetworking)
            .milliseconds(250)
        #else
            .zero
        #endif
    }()
}
