package import Foundation
package import SealedPush

/// Makes requests for the stages: ``SessionFetching`` on a device, libcurl in the simulator. It only transfers bytes.
/// The ``FetchRequest`` sets the allowed addresses, the deadline, and how much of the answer to read. Thread-safe.
package protocol Fetching: Sendable {
    /// Whether a host may be reached regardless of the rules, and without TLS. A device exempts no host; the simulator's
    /// fetcher exempts the machine that it runs on.
    func exempts(_ host: NetworkHost) -> Bool

    /// How long a transfer may go without data, and how long a request for a small answer may take.
    var patience: Duration { get }

    /// Makes a request; returns the answer's head once the wanted part of its body has arrived. Doesn't follow
    /// redirects. Uses constant memory. Canceling the task ends the request within a moment; one last piece may follow.
    ///
    /// - Throws: The errors of the request's closures; otherwise `network`, including if no data arrives for ``patience``.
    func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer
}

/// A request, and the rules that apply to it.
package struct FetchRequest: Sendable {
    /// A URL that has passed ``Fetching/check(_:reaching:)``.
    package let url: URL
    /// The body to post; nil for GET.
    package var body: [UInt8]?
    package let deadline: ContinuousClock.Instant
    /// Throws if an address isn't allowed. Called before connecting or as early as the loader can; nil allows every address.
    package var mayConnect: (@Sendable (IPAddress) throws(MediaError) -> Void)?
    /// Returns whether the body is wanted, once the head has arrived. If not, the transfer ends there.
    package var wantsBody: @Sendable (FetchAnswer) throws(MediaError) -> Bool = { _ in false }
    /// Receives the body piece by piece, in order, one at a time.
    package var take: @Sendable (UnsafeRawBufferPointer) throws(MediaError) -> Void = { _ in }
    /// The HTTP method; nil for GET, or for POST if there is a body.
    var verb: String?
    var contentType = "application/octet-stream"
    /// Set only by ``PushServerClient``; a fetch for a message never reveals the user.
    var authorization: String?

    package var method: String { verb ?? (body == nil ? "GET" : "POST") }

    /// The headers reveal no app, system, or language. The hash covers the stored file, so don't compress it in transit.
    package var headers: [(name: String, value: String)] {
        var headers = [("User-Agent", "sealed-push"), ("Accept-Language", "*"), ("Accept-Encoding", "identity")]
        if body != nil { headers.append(("Content-Type", contentType)) }
        if let authorization { headers.append(("Authorization", authorization)) }
        return headers
    }
}

package struct FetchAnswer: Sendable {
    package let status: Int
    package let location: String?
    package let contentEncoding: String?
    /// Nil if the header is missing or isn't a number.
    package let contentLength: Int64?

    /// - Parameter field: Returns the value of a header, whose name is case-insensitive.
    package init(status: Int, field: (_ name: String) -> String?) {
        self.status = status
        location = field("Location")
        contentEncoding = field("Content-Encoding")
        contentLength = field("Content-Length").flatMap { Int64($0) }
    }

    /// The target of a redirect; nil if this isn't one.
    var redirect: String? { [301, 302, 303, 307, 308].contains(status) ? location : nil }
}

extension Fetching {
    package func exempts(_ host: NetworkHost) -> Bool { false }

    package var patience: Duration { .seconds(10) }

    /// Returns the answer to a request. Throws `network` if there is none by its deadline.
    func answer(to request: FetchRequest) async throws(MediaError) -> FetchAnswer {
        let result = await withTaskGroup(of: Result<FetchAnswer, MediaError>.self) { group in
            group.addTask {
                do throws(MediaError) { return .success(try await fetch(request)) } catch { return .failure(error) }
            }
            group.addTask {
                try? await Task.sleep(until: request.deadline, clock: .continuous)
                return .failure(.network)
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure(.network)
        }
        return try result.get()
    }
}
