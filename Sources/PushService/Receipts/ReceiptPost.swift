import Foundation
internal import PushCrypto
import SealedPush

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// One receipt after the other, by HTTP: without cookies, cache, credentials or redirections, and without a word about app,
/// system or language. Of an answer, the status alone is read.
final class ReceiptPost: Sendable {
    private let session: URLSession
    private let answers = Answers()

    enum Outcome: Sendable {
        /// Taken, or refused for good.
        case settled
        case later
    }

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = Self.seconds
        configuration.timeoutIntervalForResource = Self.seconds
        configuration.httpMaximumConnectionsPerHost = 1
        session = URLSession(configuration: configuration, delegate: answers, delegateQueue: nil)
    }

    func send(_ receipt: WaitingReceipt) async -> Outcome {
        guard let url = URL(string: receipt.address.description) else { return .settled }
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: Self.seconds)
        request.httpMethod = "POST"
        request.httpShouldHandleCookies = false
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        request.setValue("sealed-push", forHTTPHeaderField: "User-Agent")
        request.setValue("*", forHTTPHeaderField: "Accept-Language")
        request.httpBody = Data(receipt.body)
        let task = session.dataTask(with: request)
        let timer = Task {
            try await Task.sleep(for: .seconds(Self.seconds))
            Answers.cancel(task)
        }
        defer { timer.cancel() }
        let status = await withTaskCancellationHandler {
            await answers.status(of: task)
        } onCancel: {
            Answers.cancel(task)
        }
        return Self.outcome(status)
    }

    /// Lets go of the session, which holds its delegate.
    func end() { session.invalidateAndCancel() }

    /// What may go better another time is kept.
    private static func outcome(_ status: Int?) -> Outcome {
        switch status {
        case .some(200...299): .settled
        case .some(408), .some(425), .some(429): .later
        case .some(400...499): .settled
        default: .later
        }
    }

    private static let seconds = 10.0
}

/// Waits for each task's status, and ends the task there.
private final class Answers: NSObject, URLSessionDataDelegate, Sendable {
    private let waiting = Locked<[Int: CheckedContinuation<Int?, Never>]>([:])

    func status(of task: URLSessionDataTask) async -> Int? {
        await withCheckedContinuation { continuation in
            waiting.withLock { $0[task.taskIdentifier] = continuation }
            task.resume()
        }
    }

    /// On a thread of its own: Linux's loader may be waiting for the very delegate that cancels.
    static func cancel(_ task: URLSessionTask) { StageExecutor.queue().async { task.cancel() } }

    private func settle(_ task: URLSessionTask, _ status: Int?) {
        let continuation = waiting.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        continuation?.resume(returning: status)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        settle(dataTask, (response as? HTTPURLResponse)?.statusCode)
        // An answer that has nothing more leaves its connection to the next receipt.
        if response.expectedContentLength != 0 { Self.cancel(dataTask) }
        completionHandler(.allow)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        settle(task, response.statusCode)
        completionHandler(nil)
        Self.cancel(task)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        settle(task, nil)
    }
}
