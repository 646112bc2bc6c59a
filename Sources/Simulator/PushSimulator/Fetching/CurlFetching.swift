internal import Ccurl
import Dispatch
import Foundation
internal import PushCore
package import PushService
package import SealedPush

/// The fetcher of a simulated phone, based on libcurl. It can also reach the local machine, even without TLS.
package struct CurlFetching: Fetching {
    package let patience: Duration

    package init(patience: Duration = .seconds(10)) { self.patience = patience }

    package func exempts(_ host: NetworkHost) -> Bool { host.isLoopback }

    package func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer {
        try await CurlTransfer(request, patience).run()
    }
}

/// One request and its response, using libcurl. Its memory use doesn't depend on what the server sends.
///
/// Foundation on Linux crashes on responses that are merely odd, and buffers data that hasn't been read yet, so the
/// simulator uses libcurl instead (Docs/Decisions/0023-downloads.md).
private final class CurlTransfer: @unchecked Sendable {
    // Only the thread that runs the transfer uses this state, except for `isCanceled`.
    private let request: FetchRequest
    private let patience: Duration
    private let isCanceled = Locked(false)
    private var answer = Answer()
    private var isInBody = false
    private var interimCount = 0
    private var headerByteCount = 0
    private var refusal: MediaError?

    /// The last response head that isn't interim.
    private struct Answer {
        var status = 0
        /// The header fields by lowercase name. For a repeated field, the last value.
        var headers: [String: String] = [:]
    }

    init(_ request: FetchRequest, _ patience: Duration) { (self.request, self.patience) = (request, patience) }

    /// Waits for the response, or for as much of it as is wanted. Canceling the task ends the transfer.
    func run() async throws(MediaError) -> FetchAnswer {
        let result: Result<FetchAnswer, MediaError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A separate thread, because the transfer blocks it.
                DispatchQueue(label: "sealed-push.fetch").async { [self] in
                    continuation.resume(returning: Result { () throws(MediaError) in try fetch() })
                }
            }
        } onCancel: {
            isCanceled.withLock { $0 = true }
        }
        return try result.get()
    }

    private func fetch() throws(MediaError) -> FetchAnswer {
        _ = Self.isReady
        guard let handle = curl_easy_init(), let multi = curl_multi_init() else { throw .network }
        var list: UnsafeMutablePointer<curl_slist>?
        for (name, value) in request.headers { list = curl_slist_append(list, "\(name): \(value)") }
        // Removes libcurl's own field, which asks servers for an interim response.
        list = curl_slist_append(list, "Expect:")
        configure(handle, list)
        curl_multi_add_handle(multi, handle)
        defer {
            curl_multi_remove_handle(multi, handle)
            curl_easy_cleanup(handle)
            curl_multi_cleanup(multi)
            curl_slist_free_all(list)
        }
        let result = try perform(multi)
        if let refusal { throw refusal }
        // libcurl also reports success if the head is incomplete or malformed, but only a complete head is a response. If
        // only the head was wanted, the callback ended the transfer, which shows as a write error.
        guard isInBody, result == CURLE_OK || result == CURLE_WRITE_ERROR else { throw .network }
        return head
    }

    /// The response's status and final header fields.
    private var head: FetchAnswer { FetchAnswer(status: answer.status) { answer.headers[$0.lowercased()] } }

    private func perform(_ multi: UnsafeMutableRawPointer) throws(MediaError) -> CURLcode {
        while true {
            var running: Int32 = 0
            guard curl_multi_perform(multi, &running) == CURLM_OK else { throw .network }
            var result = CURLE_OK
            if sp_curl_is_done(multi, &result) == 1 { return result }
            guard !isCanceled.withLock({ $0 }) else { throw .network }
            // Milliseconds; the longest delay before a cancellation is noticed.
            curl_multi_poll(multi, nil, 0, 20, nil)
        }
    }

    private func configure(_ handle: UnsafeMutableRawPointer, _ headers: UnsafeMutablePointer<curl_slist>?) {
        let own = Unmanaged.passUnretained(self).toOpaque()
        sp_curl_text(handle, CURLOPT_URL, request.url.absoluteString)
        // The environment's proxies are the developer's, not the simulated phone's.
        sp_curl_text(handle, CURLOPT_PROXY, "")
        sp_curl_long(handle, CURLOPT_PROTOCOLS, Int(CURLPROTO_HTTP | CURLPROTO_HTTPS))
        sp_curl_long(handle, CURLOPT_NOSIGNAL, 1)
        sp_curl_long(handle, CURLOPT_HTTP_CONTENT_DECODING, 0)
        sp_curl_long(handle, CURLOPT_CONNECTTIMEOUT, Int(patience.components.seconds))
        sp_curl_long(handle, CURLOPT_LOW_SPEED_LIMIT, 1)
        sp_curl_long(handle, CURLOPT_LOW_SPEED_TIME, Int(patience.components.seconds))
        sp_curl_long(handle, CURLOPT_BUFFERSIZE, 65_536)
        sp_curl_pointer(handle, CURLOPT_HTTPHEADER, headers)
        sp_curl_text(handle, CURLOPT_CUSTOMREQUEST, request.method)
        if let body = request.body {
            sp_curl_long(handle, CURLOPT_POST, 1)
            sp_curl_long(handle, CURLOPT_POSTFIELDSIZE, body.count)
            // libcurl makes its own copy.
            body.withUnsafeBytes { bytes in
                _ = sp_curl_pointer(
                    handle, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            }
        }
        sp_curl_pointer(handle, CURLOPT_HEADERDATA, own)
        sp_curl_take(handle, CURLOPT_HEADERFUNCTION) { bytes, _, count, own in
            CurlTransfer.of(own).takeHeader(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
        }
        sp_curl_pointer(handle, CURLOPT_WRITEDATA, own)
        sp_curl_take(handle, CURLOPT_WRITEFUNCTION) { bytes, _, count, own in
            CurlTransfer.of(own).takeBody(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
        }
        sp_curl_pointer(handle, CURLOPT_OPENSOCKETDATA, own)
        sp_curl_connect(handle) { own, _, address in
            guard let address, CurlTransfer.of(own).mayConnect(address) else { return CURL_SOCKET_BAD }
            return socket(address.pointee.family, address.pointee.socktype, address.pointee.protocol)
        }
    }

    private static func of(_ own: UnsafeMutableRawPointer?) -> CurlTransfer {
        Unmanaged<CurlTransfer>.fromOpaque(own!).takeUnretainedValue()
    }

    /// Handles a line of the head or the trailers. Returns false to end the transfer.
    private func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        headerByteCount += max(line.count, 32)
        guard headerByteCount <= Self.maximumHeaderByteCount else { return refuse(.network) }
        guard !isInBody else { return true }
        let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        if text.hasPrefix("HTTP/") {
            answer = Answer()
            answer.status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            interimCount += 1
            return interimCount <= Self.maximumInterimCount ? true : refuse(.network)
        }
        guard text.isEmpty else {
            let parts = text.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if parts.count == 2 { answer.headers[parts[0].lowercased()] = parts[1] }
            return true
        }
        guard answer.status >= 200 else { return true }
        isInBody = true
        do throws(MediaError) { return try request.wantsBody(head) } catch { return refuse(error) }
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard isInBody else { return refuse(.network) }
        do throws(MediaError) { try request.take(bytes) } catch { return refuse(error) }
        return !isCanceled.withLock { $0 }
    }

    private func mayConnect(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Bool {
        // Read the address in place, because an IPv6 address is longer than the member that stands for it.
        let start = UnsafeRawPointer(address).advanced(by: MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0)
        let found = IPAddress(start.assumingMemoryBound(to: sockaddr.self))
        guard let found else { return refuse(.addressRefused) }
        do throws(MediaError) { try request.mayConnect?(found) } catch { return refuse(error) }
        return true
    }

    private func refuse(_ error: MediaError) -> Bool {
        refusal = refusal ?? error
        return false
    }

    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    /// The limit for all heads together. Each line counts as at least 32 bytes.
    private static let maximumHeaderByteCount = 32_768
    private static let maximumInterimCount = 9
}
