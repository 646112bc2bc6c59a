import Dispatch
import Foundation
internal import PushCore
internal import SealedPush

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Apple's loader; for tests on Linux, Foundation's, whose limits are in Docs/Decisions/0023-downloads.md.
package struct SessionFetching: Fetching {
    package init() {}

    #if DEBUG && targetEnvironment(simulator)
    /// Allows a server on the developer's own Mac, without TLS, only in Apple's Simulator.
    package func exempts(_ host: NetworkHost) -> Bool { host.isLoopback }
    #endif

    package func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer {
        var network = NAT64()
        if let mayConnect = request.mayConnect {
            guard let host = NetworkHost(request.url) else { throw .addressRefused }
            network = try await LookUps.shared.check(host, mayConnect)
        }
        return try await SessionTransfer(request, network, patience).run()
    }
}

private final class SessionTransfer: NSObject, URLSessionDataDelegate, Sendable {
    private let request: FetchRequest
    private let network: NAT64
    private let patience: Duration
    /// Results after the first are dropped; by then, the loader has been told to stop or soon will be.
    private let first = FirstResult<FetchAnswer, MediaError>()
    /// The head of an answer whose body is wanted.
    private let answer = Locked<FetchAnswer?>(nil)
    private let dialog = LoaderDialog()

    init(_ request: FetchRequest, _ network: NAT64, _ patience: Duration) {
        (self.request, self.network, self.patience) = (request, network, patience)
    }

    func run() async throws(MediaError) -> FetchAnswer {
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: DelegateQueue())
        let task = session.dataTask(with: urlRequest)
        task.resume()
        defer {
            dialog.cancel(task)
            session.finishTasksAndInvalidate()
        }
        return try await first.value(orCanceled: .network)
    }

    private var urlRequest: URLRequest {
        var urlRequest = URLRequest(url: request.url, cachePolicy: .reloadIgnoringLocalCacheData)
        urlRequest.httpShouldHandleCookies = false
        for (name, value) in request.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        urlRequest.httpMethod = request.method
        if let body = request.body { urlRequest.httpBody = Data(body) }
        return urlRequest
    }

    /// A configuration that stores nothing, and reveals only the request.
    private var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.timeoutIntervalForRequest = patience / .seconds(1)
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
    /// Apple reports the addresses of connections; Foundation on Linux doesn't.
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

/// The queue on which a session calls its delegate, one call at a time. Unchecked, like its superclass; a semaphore is safe.
private final class DelegateQueue: OperationQueue, @unchecked Sendable {
    override init() {
        super.init()
        maxConcurrentOperationCount = 1
        name = "sealed-push.fetch"
    }

    #if canImport(FoundationNetworking)
    // Apple's loader waits for its delegate. Linux's keeps reading, so a fast server would fill the memory with data
    // that the delegate has yet to take. So the loader's own thread waits here.
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
/// Linux's loader stops the whole process if a delegate's answer, to a redirect or a response, reaches a canceled task.
/// So, on Linux, a cancellation waits until an answer has been processed, and no answer follows a cancellation.
private final class LoaderDialog: Sendable {
    #if canImport(FoundationNetworking)
    private let state = Locked(State())

    private struct State {
        var isAnswering = false
        var isCanceled = false
        /// The time from which the last answer counts as processed.
        var quiet = ContinuousClock.now
    }

    func cancel(_ task: URLSessionTask) {
        // On its own thread, because the loader may be waiting for the very delegate that cancels.
        StageExecutor.queue().async { [self] in
            while !mayCancel() { Thread.sleep(forTimeInterval: 0.01) }
            task.cancel()
        }
    }

    func answer(_ answer: () -> Void) {
        let mayAnswer = state.withLock { state in
            state.isAnswering = !state.isCanceled
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
            state.isCanceled = !state.isAnswering && .now >= state.quiet
            return state.isCanceled
        }
    }
    #else
    func cancel(_ task: URLSessionTask) { task.cancel() }
    func answer(_ answer: () -> Void) { answer() }
    #endif
}
