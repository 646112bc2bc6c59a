internal import Foundation
internal import Hummingbird
internal import Logging
internal import PushOutbox

/// The context of a request while it is routed and handled.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The login's user, or `nil` for the back end.
    var user: UserName?
    /// The name of the token for notifications that the caller presented, or `nil` for other callers.
    var notifier: String?
    var query: [String: String] = [:]

    /// The request's ID in the log and in the response.
    let requestID: String

    init(source: Source) {
        coreContext = .init(source: source)
        // A logger whose log keeps no metadata doesn't have the ID.
        requestID = source.logger[metadataKey: "hb.request.id"]?.description ?? RequestID().description
    }

    /// Returns a part of the path, decoded.
    func part(_ name: String) -> String? { parameters.get(name)?.removingPercentEncoding }

    /// Returns the user that the path names.
    func namedUser() throws(Problem) -> UserName {
        guard let user = part("user").flatMap(UserName.init(parsing:))
        else { throw .malformed("the path doesn't contain a valid user name") }
        return user
    }
}
