import Dispatch
import Foundation
internal import PushCore
internal import SealedPush

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The loader of Apple's systems. On Linux Foundation's takes its place, for the tests: what it can't do is in
/// Docs/Decisions/0023-downloads.md.
package struct SessionFetching: Fetching {
    package init() {}

    #if DEBUG && targetEnvironment(simulator)
        /// A server on the developer's own Mac, without TLS, in Apple's Simulator alone.
        package func exempts(_ host: NetworkHost) -> Bool { host.isLoopback }
    #endif

    package func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer {
        var network = NAT64()
        if let mayConnect = request.mayConnect {
            guard let host = NetworkHost(request.url) else { throw .addressRefused }
            network = try await LookUps.shared.check(host, mayConnect)
        }
        return try await SessionTransfer(request, network).run()
    }
}

private final class SessionTransfer: NSObject, URLSessionDataDelegate, Sendable {
    private let request: FetchRequest
    private let network: NAT64
    /// What the loader brings after the first result is dropped; it has been told to stop by then, or is.
    private let first = FirstResult<FetchAnswer, MediaError>()
    /// An answer whose body is wanted.
    private let answer = Locked<FetchAnswer?>(nil)
    private let dialog = LoaderDialog()

    init(_ request: FetchRequest, _ network: NAT64) {
        self.request = request
        self.network = network
    }

    func run() async throws(MediaError) -> FetchAnswer {
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: DelegateQueue())
        let task = session.dataTask(with: urlRequest)
        task.resume()
        defer {
            dialog.cancel(task)
            session.finishTasksAndInvalidate()
        }
        return try await first.value(orCancelled: .network)
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

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        // Without a new request, the redirect itself is the answer.
        dialog.answer {
            _ = wantsBody(of: response)
            completionHandler(nil)
        }
        dialog.cancel(task)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        dialog.answer { completionHandler(wantsBody(of: response) ? .allow : .cancel) }
    }

    private func wantsBody(of response: URLResponse) -> Bool {
        guard !first.isSettled else { return false }
        do throws(MediaError) {
            guard let http = response as? HTTPURLResponse else { throw .network }
            let head = FetchAnswer(status: http.statusCode) { http.value(forHTTPHeaderField: $0) }
            guard try request.wantsBody(head) else {
                first.settle(.success(head))
                return false
            }
            answer.withLock { $0 = head }
            return true
        } catch {
            first.settle(.failure(error))
            return false
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard !first.isSettled else { return }
        do throws(MediaError) { try data.lend(request.take) } catch { first.settle(.failure(error)) }
    }

    #if !canImport(FoundationNetworking)
        /// Apple tells which addresses there were connections to; Linux's Foundation does not.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            for transaction in metrics.transactionMetrics where !transaction.isProxyConnection {
                guard let address = transaction.remoteAddress.flatMap(IPAddress.init(text:)) else { continue }
                do throws(MediaError) { try request.mayConnect?(network.original(of: address) ?? address) } catch {
                    first.settle(.failure(error))
                }
            }
        }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let head = error == nil ? answer.withLock { $0 } : nil
        first.settle(head.map(Result.success) ?? .failure(.network))
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

/// Answers the loader's questions and cancels its task, from any thread.
///
/// Linux's loader stops the whole process when a delegate's answer, to a redirect or a response, meets a task that was
/// cancelled before it came in. So there a cancel waits until an answer has been taken in, and after one there are no more
/// answers.
private final class LoaderDialog: Sendable {
    #if canImport(FoundationNetworking)
        private let state = Locked(State())

        private struct State {
            var isAnswering = false
            var isCancelled = false
            /// When the last answer has been taken in.
            var quiet = ContinuousClock.now
        }

        func cancel(_ task: URLSessionTask) {
            // On a thread of its own: the loader may be waiting for the very delegate that cancels.
            StageExecutor.queue().async { [self] in
                while !mayCancel() { Thread.sleep(forTimeInterval: 0.01) }
                task.cancel()
            }
        }

        func answer(_ answer: () -> Void) {
            let mayAnswer = state.withLock { state in
                state.isAnswering = !state.isCancelled
                return state.isAnswering
            }
            guard mayAnswer else { return }
            answer()
            state.withLock { state in
                state.isAnswering = false
                state.quiet = .now + .milliseconds(250)
            }
        }

        private func mayCancel() -> Bool {
            state.withLock { state in
                state.isCancelled = !state.isAnswering && .now >= state.quiet
                return state.isCancelled
            }
        }
    #else
        func cancel(_ task: URLSessionTask) { task.cancel() }
        func answer(_ answer: () -> Void) { answer() }
    #endif
}
