package import Foundation
internal import NIOCore
internal import NIOPosix
internal import PushCore
package import PushSimulator

/// The connection of one or more simulated devices to a local APNs. Registers them, receives notifications, goes offline
/// and comes back, and survives the server's restart. Thread-safe.
package final class DeviceReceiver: Sendable {
    /// A notification that has arrived. Unless it's acknowledged, the server sends it again on this device's next
    /// connection.
    package struct Arrival: Sendable {
        /// The index of the device among the receiver's devices.
        package let device: Int
        package let notification: APNsNotification
        let number: UInt64
        let token: String
        /// The connection it arrived on. Once that ends, acknowledging has no effect, and the notification arrives again.
        let client: DeviceClient

        /// Tells the server to forget the notification, because it was shown or never will be.
        ///
        /// - Parameter push: The visible result, for the server's page.
        package func acknowledge(showing push: DeliveredPush? = nil) {
            let shown = push.map { ShownOnDevice($0, identifier: notification.identifier) }
            client.send(.acknowledge(number: number, token: token, shown: shown))
        }
    }

    package enum Event: Sendable {
        /// Every device is registered and online. The tokens are in the order of the devices.
        case online(tokens: [String])
        case offline
        /// The server can't be reached; the receiver will try again after a pause.
        case unreachable(String)
        case arrived(Arrival)
    }

    /// The number of devices that may share one connection.
    package static let maximumDeviceCount = 10_000

    private let socket: String
    private let topic: String
    private let names: [String]
    private let group: MultiThreadedEventLoopGroup
    private let handler: @Sendable (Event) -> Void
    private let state = Locked(State())

    private struct State {
        var isWanted = true
        var isStopped = false
        var link: DeviceClient?
    }

    /// - Parameters:
    ///   - folder: The folder of the local APNs.
    ///   - topic: The topic of the app that registers on each device.
    ///   - handler: Called for one event after another, on a thread that it must not block for long.
    package init(folder: URL, topic: String, names: [String], handler: @escaping @Sendable (Event) -> Void) {
        socket = folder.appending(path: DeviceSocket.name).path(percentEncoded: false)
        self.topic = topic
        self.names = names
        self.handler = handler
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    }

    /// Connects, and reconnects whenever the connection ends, until ``stop()``. Pauses 50 ms at first, and later up to 2 s.
    package func run() async {
        var pause = Duration.milliseconds(50)
        while !state.withLock({ $0.isStopped }) {
            guard state.withLock({ $0.isWanted }) else {
                try? await Task.sleep(for: .milliseconds(20))
                continue
            }
            do {
                try await serveOneConnection()
                pause = .milliseconds(50)
            } catch {
                // Random, so that a thousand devices don't come back at once.
                let wait = pause * Double.random(in: 0.5...1)
                handler(.unreachable("\(type(of: error))"))
                try? await Task.sleep(for: wait)
                pause = min(pause * 2, .seconds(2))
            }
            if Task.isCancelled { break }
        }
        try? await group.shutdownGracefully()
    }

    /// Connects, or disconnects as if the network were gone, leaving notifications in flight unacknowledged.
    package func setOnline(_ isOnline: Bool) {
        let link = state.withLock { state in
            state.isWanted = isOnline
            return isOnline ? nil : state.link
        }
        link?.close()
    }

    /// Ends ``run()``. Unacknowledged notifications arrive again later.
    package func stop() {
        let link = state.withLock { state in
            state.isStopped = true
            return state.link
        }
        link?.close()
    }

    private func serveOneConnection() async throws {
        let channel = try await DeviceSocket.connect(socket, group) { [topic, names, handler, state] channel in
            let client = DeviceClient(channel, registering: .register(topic: topic, names: names), handler: handler)
            state.withLock { $0.link = client }
            return client
        }
        let link = state.withLock { state in state.isWanted && !state.isStopped ? nil : state.link }
        link?.close()
        try await channel.closeFuture.get()
        state.withLock { $0.link = nil }
        handler(.offline)
    }
}

/// The devices' side of one connection.
final class DeviceClient: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let channel: any Channel
    private let registration: DeviceFrame
    private let handler: @Sendable (DeviceReceiver.Event) -> Void
    private let state = Locked(State())

    private struct State {
        var received = ByteBuffer()
        /// The index of each device, by token.
        var places: [String: Int] = [:]
    }

    init(
        _ channel: any Channel, registering registration: DeviceFrame,
        handler: @escaping @Sendable (DeviceReceiver.Event) -> Void
    ) {
        self.channel = channel
        self.registration = registration
        self.handler = handler
    }

    func send(_ frame: DeviceFrame) { channel.writeAndFlush(frame.bytes, promise: nil) }

    func close() { channel.close(promise: nil) }

    func channelActive(context: ChannelHandlerContext) {
        send(registration)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        do {
            let events = try state.withLock { state in
                state.received.writeBuffer(&bytes)
                var events: [DeviceReceiver.Event] = []
                while let frame = try DeviceFrame.read(from: &state.received) {
                    if let event = try event(of: frame, &state) { events.append(event) }
                }
                state.received.discardReadBytes()
                return events
            }
            for event in events { handler(event) }
        } catch { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func event(
        of frame: DeviceFrame, _ state: inout State
    ) throws(DeviceFrame.Failure) -> DeviceReceiver.Event? {
        switch frame {
        case .registered(let tokens):
            state.places = Dictionary(tokens.enumerated().map { ($1, $0) }) { first, _ in first }
            return .online(tokens: tokens)
        case .notification(let number, let token, let notification):
            guard let place = state.places[token] else { return nil }
            return .arrived(
                DeviceReceiver.Arrival(
                    device: place, notification: notification, number: number, token: token, client: self))
        case .register, .acknowledge: throw .malformed
        }
    }
}
