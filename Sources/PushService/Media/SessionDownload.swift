import Foundation
import SealedPush
internal import _PushBase

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A download by the system's loader: the one of Apple's systems. On Linux it compiles and runs too, for the tests.
final class SessionDownload: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // What is not behind the lock is touched by the session's delegate queue only, which makes one call at a time.
    private let file: RemoteFile
    private let rules: NetworkRules
    private let take: @Sendable (UnsafeRawBufferPointer) throws(AttachmentError) -> Void
    private var opening: RemoteFileOpening?
    private var redirectCount = 0
    private var failure: MediaError?
    private let cancelling = TaskCancelling()
    private let waiting = Locked<CheckedContinuation<MediaError?, Never>?>(nil)

    private init(
        _ file: RemoteFile, _ rules: NetworkRules,
        _ take: @escaping @Sendable (UnsafeRawBufferPointer) throws(AttachmentError) -> Void
    ) {
        self.file = file
        self.rules = rules
        self.take = take
        opening = RemoteFileOpening(file)
    }

    /// See ``FileDownload``.
    static func run(
        _ file: RemoteFile, rules: NetworkRules, timeLeft: Duration,
        _ take: @escaping @Sendable (UnsafeRawBufferPointer) throws(AttachmentError) -> Void
    ) async throws(MediaError) {
        try rules.check(file.url)
        try await LookUps.shared.check(file.url, by: rules)
        let download = SessionDownload(file, rules, take)
        let session = URLSession(
            configuration: configuration(timeLeft: timeLeft), delegate: download, delegateQueue: DownloadQueue())
        defer { session.finishTasksAndInvalidate() }
        var request = URLRequest(url: file.url)
        // What is hashed is what is stored: nothing may unpack it on the way.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        request.setValue("sealed-push", forHTTPHeaderField: "User-Agent")
        let task = session.dataTask(with: request)
        let failure = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                download.waiting.withLock { $0 = continuation }
                task.resume()
            }
        } onCancel: {
            download.cancelling.cancel(task)
        }
        if let failure { throw failure }
    }

    /// Nothing is kept, nothing but the request is told.
    private static func configuration(timeLeft: Duration) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.timeoutIntervalForRequest = min(10, max(1, timeLeft / .seconds(1)))
        configuration.timeoutIntervalForResource = max(1, timeLeft / .seconds(1))
        return configuration
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        // Without a new request, the redirect itself is the response: refused as that.
        cancelling.answer(completionHandler, refusal: nil) {
            do throws(MediaError) {
                redirectCount += 1
                guard redirectCount <= FileDownload.maximumRedirectCount else { throw .tooManyRedirects }
                guard let url = request.url else { throw .addressRefused }
                try rules.check(url)
                try rules.lookUp(url)
                return request
            } catch {
                failure = failure ?? error
                return nil
            }
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        cancelling.answer(completionHandler, refusal: .cancel) {
            do throws(MediaError) {
                try check(response)
                return failure == nil ? .allow : .cancel
            } catch {
                failure = failure ?? error
                return .cancel
            }
        }
    }

    private func check(_ response: URLResponse) throws(MediaError) {
        guard let http = response as? HTTPURLResponse else { throw .network }
        let length = http.expectedContentLength
        try FileDownload.check(
            status: http.statusCode, encoding: http.value(forHTTPHeaderField: "Content-Encoding"),
            length: length < 0 ? nil : length, of: file)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard failure == nil else { return }
        do throws(AttachmentError) {
            try data.lend { (bytes) throws(AttachmentError) in try opening?.take(bytes, take) }
        } catch {
            failure = .file(error)
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
                do throws(MediaError) { try rules.check(address) } catch { failure = failure ?? error }
            }
        }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        var result = failure
        if result == nil, error != nil { result = .network }
        if let opening = opening.take(), result == nil {
            do throws(AttachmentError) { try opening.finish() } catch { result = .file(error) }
        }
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(returning: result)
    }
}

extension Data {
    /// Lends the bytes to what throws a typed error.
    fileprivate func lend(_ body: (UnsafeRawBufferPointer) throws(AttachmentError) -> Void) throws(AttachmentError) {
        let result = withUnsafeBytes { bytes -> Result<Void, AttachmentError> in
            do throws(AttachmentError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        try result.get()
    }
}
