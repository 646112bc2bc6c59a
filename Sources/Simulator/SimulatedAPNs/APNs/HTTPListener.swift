internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore

/// A server for HTTP/1.1 requests, either to the control endpoint or to the page.
struct HTTPListener: Sendable {
    /// The port that it listens on; nil for a Unix socket.
    let port: Int?
    private let running: Task<Void, Never>

    /// Starts a server, and returns once it is listening.
    static func start(
        at address: BindAddress, _ group: any EventLoopGroup,
        _ answering: @escaping @Sendable (Request) async -> Response
    ) async throws -> HTTPListener {
        let (bound, told) = AsyncThrowingStream<Int?, any Error>.makeStream()
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in await answering(request) },
            server: .http1(configuration: .init(idleTimeout: .seconds(30))),
            configuration: .init(address: address), onServerRunning: { told.yield($0.localAddress?.port) },
            eventLoopGroupProvider: .shared(group),
            logger: Logger(label: "http") { _ in SwiftLogNoOpLogHandler() })
        let running = Task {
            do { try await application.run() } catch { told.finish(throwing: error) }
            told.finish()
        }
        for try await port in bound { return HTTPListener(port: port, running: running) }
        running.cancel()
        throw CancellationError()
    }

    /// Stops the server and closes its connections.
    func stop() async {
        running.cancel()
        await running.value
    }
}

extension Response {
    fileprivate static func json(_ value: some Encodable, _ status: HTTPResponse.Status = .ok) -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = ((try? encoder.encode(value)) ?? Data("{}".utf8)) + Data("\n".utf8)
        return Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}

/// The control endpoint: JSON on a Unix socket in the server's folder, for the user who started it.
///
/// | request | body | effect |
/// |---|---|---|
/// | `GET /status` | | returns counts of connections, requests, refusals, deliveries, and devices |
/// | `PUT /faults` | ``APNsFaults`` | replaces the faults; absent members get their defaults |
extension LocalAPNsCore {
    static let controlSocketName = "control.sock"

    func listenForControl(
        _ folder: LocalAPNsFolder, _ group: any EventLoopGroup
    ) async throws(LocalAPNsError) -> HTTPListener {
        let path = folder.path(Self.controlSocketName)
        let listener: HTTPListener
        do {
            listener = try await DeviceSocket.withShortPath(path) { path in
                try await HTTPListener.start(at: .unixDomainSocket(path: path), group, control)
            }
        } catch { throw .notBound("\(path): \(error)") }
        // Anyone who can connect can change the server's behavior. Connecting requires write permission, unix(7).
        guard chmod(path, 0o600) == 0 else {
            let message = String(cString: strerror(errno))
            await listener.stop()
            throw .notBound("\(path): \(message)")
        }
        return listener
    }

    private struct Status: Encodable {
        let requests: Counts
        let devices: DeviceCounts
    }

    @Sendable private func control(_ request: Request) async -> Response {
        switch (request.method, request.head.path) {
        case (.get, "/status"): return .json(Status(requests: counts, devices: registry.counts))
        case (.put, "/faults"):
            guard let body = try? await request.body.collect(upTo: 1 << 20) else {
                return .json(["error": "the body exceeds the limit of 1 MB"], .contentTooLarge)
            }
            guard let faults = APNsFaults(parsing: Data(body.readableBytesView)) else {
                return .json(["error": APNsFaults.rule], .badRequest)
            }
            self.faults = faults
            return .json(faults)
        default: return .json(["error": "\(request.method) isn't supported for this path"], .notFound)
        }
    }
}
