internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdTLS
import Logging
internal import NIOCore
internal import NIOPosix
internal import PushCore
internal import ServiceLifecycle

/// Hummingbird's applications, one for each listener, from start to end.
final class RunningService: Sendable {
    /// Kept while they may be bound.
    private let sockets: [SocketPlace]
    private let group: ServiceGroup
    private let state: Locked<State>

    private struct State: Sendable {
        var ports: [Int?]
        var startingCount: Int
        var onRunning: @Sendable ([Int?]) -> Void = { _ in }
    }

    init(_ doors: [Door], _ limits: ServerLimits, _ logger: Logger) throws(ServingError) {
        let state = Locked(State(ports: doors.map { _ in nil }, startingCount: doors.count))
        var sockets: [SocketPlace] = []
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        for (index, door) in doors.enumerated() {
            let address: BindAddress
            var socket: SocketPlace?
            switch door.place {
            case .socket(let path):
                do throws(ServingError) { socket = try SocketPlace(path) } catch { throw error.at(door.place) }
                address = .unixDomainSocket(path: path)
            case .address(let host, let port): address = .hostname(host, port: port)
            }
            if let socket { sockets.append(socket) }
            let application = Application(
                router: door.router, server: try Self.server(door, limits),
                configuration: .init(address: address, backlog: limits.connectionCount),
                onServerRunning: { [socket] channel in
                    socket?.remember()
                    if socket?.share() == false { logger.error("the socket can't be shared with its folder's group") }
                    let running = state.withLock { state -> State? in
                        state.ports[index] = channel.localAddress?.port
                        state.startingCount -= 1
                        return state.startingCount == 0 ? state : nil
                    }
                    if let running { running.onRunning(running.ports) }
                }, eventLoopGroupProvider: .shared(door.callers.group), logger: logger)
            let listener = Listener(
                place: door.place, executor: door.callers.executor, application: application)
            services.append(.init(service: listener))
        }
        group = ServiceGroup(configuration: .init(services: services, logger: logger))
        self.sockets = sockets
        self.state = state
    }

    private static func server(_ door: Door, _ limits: ServerLimits) throws(ServingError) -> HTTPServerBuilder {
        let connections = ConnectionCount(
            min(limits.connectionCount, door.callers.connectionCount(ofFiles: Descriptors.limit)))
        let (firstHeadTime, byteCount) = (door.firstHeadTime, door.maximumByteCount)
        let http = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [
                    ConnectionLimits(
                        connections, firstHeadTime: firstHeadTime, requestTime: limits.requestTime,
                        maximumByteCount: byteCount)
                ], idleTimeout: TimeAmount(limits.idleTime),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 16_384, maxHeaderListSize: 32_768, maxHeaderFieldCount: 100)))
        do { return try door.tls.map { try .tls(http, tlsConfiguration: $0) } ?? http } catch {
            throw .badCertificate(CertificateFault(.damaged, in: .chain))
        }
    }

    /// Whether callers still find its sockets.
    var hasItsSockets: Bool { sockets.allSatisfy(\.isThere) }

    /// - Parameter onRunning: Called with the listeners' ports once all of them listen.
    func run(_ onRunning: @escaping @Sendable ([Int?]) -> Void) async throws(ServingError) {
        state.withLock { $0.onRunning = onRunning }
        do { try await group.run() } catch is ServiceGroupError {
            // The service was stopped before it started.
        } catch { throw error as? ServingError ?? .notBound("\(type(of: error))") }
    }

    func stop() async { await group.triggerGracefulShutdown() }
}

/// An application whose errors name its place.
private struct Listener: Service {
    let place: ServerPlace
    let executor: (any TaskExecutor)?
    let application: any Service

    func run() async throws {
        do {
            try await withTaskExecutorPreference(executor) { try await application.run() }
        } catch let error as IOError {
            throw ServingError.notBound(String(cString: strerror(error.errnoCode)), at: place)
        } catch { throw ServingError.notBound("\(type(of: error))", at: place) }
    }
}

extension ServingError {
    fileprivate func at(_ place: ServerPlace) -> ServingError {
        if case .notBound(let words, _) = self { .notBound(words, at: place) } else { self }
    }
}
