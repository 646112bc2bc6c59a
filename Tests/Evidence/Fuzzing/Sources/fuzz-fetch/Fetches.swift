import Ccurl
import Foundation
import FuzzSupport

@testable import PushService
@testable import PushSimulator
@testable import SealedPush

/// A web server's answers to a file request, and where it may send a phone. An answer yields the file or an error, soon and
/// with little memory, and no more bytes than announced. libcurl must find the same host in an allowed address as was
/// checked, and it must be public.
///
/// The input's first byte selects an address, an answer, or an answer's head followed by the file.
func fuzzFetch(_ input: inout Input) {
    let choice = input.byte()
    switch choice % 4 {
    case 0, 1: checkAddress(String(decoding: input.bytes, as: UTF8.self))
    case 2: checkFetching(answer: input.bytes)
    default: checkFetching(answer: input.bytes + RemoteFiles.sealed)
    }
}

/// A sealed file, for which all answers are.
enum RemoteFiles {
    static let content = Array("what was sealed".utf8)
    static let key = AttachmentKey()
    static let sealed = RawStream.seal([(content, 3)], with: key.withBytes { Array($0) })
    static let server = AnsweringServer()
    static let file = RemoteFile(
        url: server.url, byteCount: sealed.count, hash: RawHash.blake2b(sealed, byteCount: 32), key: key)
}

func checkFetching(answer bytes: [UInt8]) {
    let file = RemoteFiles.file
    RemoteFiles.server.answer(with: bytes)
    let fetching = Answered(file)
    let outcome: Result<FetchAnswer, MediaError> = waiting {
        let request = FetchRequest(
            url: file.url, deadline: .now + .seconds(2),
            mayConnect: { (address) throws(MediaError) in demand(address.isLoopback, "it connects to another host") },
            wantsBody: { (answer) throws(MediaError) in try fetching.begin(answer) },
            take: { (bytes) throws(MediaError) in try fetching.take(bytes) })
        do throws(MediaError) {
            return .success(try await CurlFetching().answer(to: request))
        } catch {
            return .failure(error)
        }
    }
    guard case .success(let answer) = outcome else { return }
    demand(answer.status >= 200, "an answer of status \(answer.status)")
    if fetching.finish() { demand(fetching.opened == RemoteFiles.content, "another file is accepted") }
}

/// `@unchecked`: only one thread at a time uses it.
private final class Answered: @unchecked Sendable {
    private let file: RemoteFile
    private var opening: RemoteFileOpening?
    private(set) var opened: [UInt8] = []
    private var isBegun = false
    private var byteCount = 0

    init(_ file: RemoteFile) {
        self.file = file
        opening = RemoteFileOpening(file)
    }

    func begin(_ answer: FetchAnswer) throws(MediaError) -> Bool {
        demand(!isBegun, "an answer has two heads")
        isBegun = true
        try FileDownload.check(answer, of: file)
        return true
    }

    func take(_ bytes: UnsafeRawBufferPointer) throws(MediaError) {
        demand(isBegun, "a body came before its head")
        byteCount += bytes.count
        do throws(AttachmentError) { try opening?.take(bytes) { opened += $0 } } catch { throw .file(error) }
        demand(byteCount <= file.byteCount, "more bytes came than announced")
    }

    func finish() -> Bool {
        guard isBegun, let opening = opening.take() else { return false }
        do throws(AttachmentError) { try opening.finish() } catch { return false }
        return true
    }
}

func checkAddress(_ text: String) {
    guard let url = URL(string: text) else { return }
    guard (try? SessionFetching().check(url, reaching: .internet)) != nil else { return }
    demand(url.scheme?.lowercased() == "https", "the scheme of \(text) is allowed")
    // libcurl may reject what the rules allow, but must not go elsewhere.
    guard let handle = curl_url() else { fatalError("libcurl has no memory") }
    defer { curl_url_cleanup(handle) }
    guard curl_url_set(handle, CURLUPART_URL, url.absoluteString, 0) == CURLUE_OK else { return }
    var part: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, CURLUPART_HOST, &part, 0) == CURLUE_OK, let part else { return }
    defer { curl_free(part) }
    let host = bare(String(cString: part))
    let seen = bare(url.host(percentEncoded: true) ?? "")
    if let address = IPAddress(text: host) {
        demand(IPAddress(text: seen) == address && address.isPublic, "\(text) leads to \(host)")
    } else {
        demand(host == seen && host.contains("."), "\(text) leads to \(host), but \(seen) was checked")
    }
}

/// Returns the host in lowercase, without IPv6 brackets and a trailing dot.
private func bare(_ host: String) -> String {
    var host = host.lowercased()
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    if host.hasSuffix(".") { host.removeLast() }
    return host
}
