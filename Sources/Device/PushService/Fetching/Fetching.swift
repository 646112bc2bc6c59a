package import Foundation
package import SealedPush

/// What makes requests for the stages: ``SessionFetching`` on a device, libcurl in the simulator.
///
/// A fetcher brings bytes, and decides nothing: where a request may go, until when, and what of its answer is wanted is said
/// in the ``FetchRequest``. Safe from several threads.
package protocol Fetching: Sendable {
    /// Whether a host is reached whatever the rules say, and without TLS. On a device none is; the simulator's fetcher reaches
    /// the machine that it runs on.
    func exempts(_ host: NetworkHost) -> Bool

    /// Makes one request, and returns the head of its answer as soon as all that is wanted of the body has been taken. A
    /// redirect is an answer like others.
    ///
    /// Takes as much memory for an answer without an end as for a short one. A cancelled task ends the request within a moment;
    /// one last piece may be taken after that.
    ///
    /// - Throws: what the request's closures throw; otherwise `network`, also where nothing comes for 10 seconds.
    func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer
}

/// What is to be fetched, and under which rules.
package struct FetchRequest: Sendable {
    /// One that has passed ``Fetching/check(_:reaching:)``.
    package let url: URL
    /// What is posted; nil for GET.
    package var body: [UInt8]?
    package let deadline: ContinuousClock.Instant
    /// Whether there may be a connection to an address: asked before it is made, or as early as the loader can. Nil where
    /// every address will do.
    package var mayConnect: (@Sendable (IPAddress) throws(MediaError) -> Void)?
    /// Whether the body is wanted, once the head is there. Without it the transfer ends there.
    package var wantsBody: @Sendable (FetchAnswer) throws(MediaError) -> Bool = { _ in false }
    /// Takes the body, piece by piece, in order, one at a time.
    package var take: @Sendable (UnsafeRawBufferPointer) throws(MediaError) -> Void = { _ in }
    /// Nil for GET, and POST where there is a body.
    var verb: String?
    var contentType = "application/octet-stream"
    /// For ``PushServerClient`` alone: nothing that is fetched for a message says who fetches it.
    var authorization: String?

    package var method: String { verb ?? (body == nil ? "GET" : "POST") }

    /// Without a word about app, system or language. What is hashed is what is stored: nothing may be packed on the way.
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
    /// Nil where the answer says none, or no number.
    package let contentLength: Int64?

    /// - Parameter field: returns what a header says, whatever the case of its name.
    package init(status: Int, field: (_ name: String) -> String?) {
        self.status = status
        location = field("Location")
        contentEncoding = field("Content-Encoding")
        contentLength = field("Content-Length").flatMap { Int64($0) }
    }

    /// Where to go on; nil where this is no redirect.
    var redirect: String? { [301, 302, 303, 307, 308].contains(status) ? location : nil }
}

extension Fetching {
    package func exempts(_ host: NetworkHost) -> Bool { false }

    /// The answer to a request; `network` where it has none at its deadline.
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
