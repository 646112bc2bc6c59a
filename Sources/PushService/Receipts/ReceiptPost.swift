import Foundation
import SealedPush
internal import _PushBase

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// One receipt's way to its server, by HTTP: without cookies, cache, credentials or redirections, and without a word about
/// app, system or language. Of the answer, the status alone is read.
final class ReceiptPost: NSObject, URLSessionDataDelegate, Sendable {
    private let cancelling = TaskCancelling()
    private let waiting = Locked(Waiting())

    private struct Waiting {
        var continuation: CheckedContinuation<Int?, Never>?
        var isOver = false
    }

    enum Outcome: Sendable {
        /// Taken, or refused for good.
        case settled
        case later
    }

    static func run(_ receipt: WaitingReceipt) async -> Outcome {
        guard let url = URL(string: receipt.address.description) else { return .settled }
        #if canImport(Darwin)
            return outcome(await statusBySession(url, receipt.body))
        #else
            return outcome(await statusByCurl(url, receipt.body))
        #endif
    }

    #if !canImport(Darwin)
        /// Nil where there was no answer in time.
        private static func statusByCurl(_ url: URL, _ body: [UInt8]) async -> Int? {
            let transfer = CurlTransfer(
                CurlTransfer.Request(
                    url: url, body: body,
                    // Without `Expect`, which asks servers for another answer first.
                    headers: ["Content-Type: application/octet-stream", "Accept-Language: *", "Expect:"],
                    deadline: .now + .seconds(seconds), mayConnect: { _ in }, wantsBody: { _ in false }, take: { _ in })
            )
            return try? await transfer.run().status
        }
    #endif

    /// The system's loader: the one of Apple's systems. On Linux it is there for the tests. Nil where there was no answer in time.
    static func statusBySession(_ url: URL, _ body: [UInt8]) async -> Int? {
        let post = ReceiptPost()
        let session = URLSession(configuration: configuration, delegate: post, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: seconds)
        request.httpMethod = "POST"
        request.httpShouldHandleCookies = false
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        request.setValue("sealed-push", forHTTPHeaderField: "User-Agent")
        request.setValue("*", forHTTPHeaderField: "Accept-Language")
        request.httpBody = Data(body)
        return await post.status(of: session.dataTask(with: request))
    }

    /// Nil where there was no answer in time.
    private func status(of task: URLSessionDataTask) async -> Int? {
        let timer = Task {
            try await Task.sleep(for: .seconds(Self.seconds))
            stop(task)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = waiting.withLock { waiting in
                    if !waiting.isOver { waiting.continuation = continuation }
                    return waiting.isOver
                }
                if isOver { return continuation.resume(returning: nil) }
                task.resume()
            }
        } onCancel: {
            stop(task)
        }
    }

    private func stop(_ task: URLSessionTask) {
        settle(nil)
        cancelling.cancel(task)
    }

    private func settle(_ status: Int?) {
        let continuation = waiting.withLock { waiting in
            waiting.isOver = true
            defer { waiting.continuation = nil }
            return waiting.continuation
        }
        continuation?.resume(returning: status)
    }

    /// What may go better another time is kept.
    private static func outcome(_ status: Int?) -> Outcome {
        switch status {
        case .some(200...299): .settled
        case .some(408), .some(425), .some(429): .later
        case .some(400...499): .settled
        default: .later
        }
    }

    /// Nothing is kept, nothing but the request is told.
    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.timeoutIntervalForRequest = seconds
        configuration.timeoutIntervalForResource = seconds
        return configuration
    }

    private static let seconds = 10.0

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        settle((response as? HTTPURLResponse)?.statusCode)
        cancelling.answer(completionHandler, refusal: .cancel) { .cancel }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        // Without a new request, the redirection itself is the answer.
        cancelling.answer(completionHandler, refusal: nil) { nil }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        settle(nil)
    }
}
