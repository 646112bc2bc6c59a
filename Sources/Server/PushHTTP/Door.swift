internal import Hummingbird
internal import HummingbirdTLS
internal import NIOPosix

/// A listener: for whom it is, its place, its paths, and the limits of its connections.
struct Door {
    let callers: Callers
    let place: ServerPlace
    let router: Router<ServerContext>
    var tls: TLSConfiguration?
    let firstHeadTime: Duration
    /// The most bytes of a request on the wire.
    let maximumByteCount: Int

    /// The callers that a listener serves. The back end has threads and descriptors that other callers can't use up.
    enum Callers: CaseIterable {
        case backEnd
        case phones
        case metrics

        /// Returns the most connections among `limit` open files: half for the back end, and together few enough that the
        /// process can always open other files.
        func connectionCount(ofFiles limit: Int) -> Int {
            let sixteenths =
                switch self {
                case .backEnd: 8
                case .phones: 7
                case .metrics: 1
                }
            return max(1, (limit - 64) * sixteenths / 16)
        }

        /// The event loops of the connections. The back end shares the process's own with delivery.
        var group: MultiThreadedEventLoopGroup { self == .backEnd ? .singleton : Crowd.group }

        /// The executor of the requests, or `nil` for Swift's own threads.
        var executor: (any TaskExecutor)? { self == .backEnd ? nil : Crowd.executor }
    }
}
