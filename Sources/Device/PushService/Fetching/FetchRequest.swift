package import Foundation
package import SealedPush

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
