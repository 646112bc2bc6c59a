package import Foundation
internal import NIOCore
internal import NIOPosix
internal import PushCore
package import PushSimulator

/// One or more simulated devices' connection to a local APNs: registers them, receives as it arrives, goes offline and
/// comes back, and survives the server's restart. Safe from several threads.
package final class DeviceReceiver: Sendable {
    /// A device and the app that registers on it.
    package struct App: Hashable, Sendable {
        package var name: String
        package var topic: String

        package init(name: String, topic: String) {
            self.name = name
            self.topic = topic
        }
    }

    /// A notification that has arrived. The server sends it again, to this device's next connection, unless it is
    /// acknowledged.
    package struct Arrival: Sendable {
        /// The place of the device among the receiver's.
        package let device: Int
        package let notification: APNsNotification
        let number: UInt64
        let token: String
        /// The connection by which it came. Once that has ended, an acknowledgment means nothing: it comes again.
        let client: DeviceClient

        /// The notification was shown, or never will be: the server forgets it.
        ///
        /// - Parameter push: what a person sees of it, for whoever looks at the server's page.
        package func acknowledge(showing push: DeliveredPush? = nil) {
            if let push { client.show(push, for: self) }
            client.send(.acknowledge(number: number, token: token))
        }
    }

    package enum Event: Sendable {
        /// Every device is registered and there; the tokens in the order of the devices.
        case online(tokens: [String])
        case offline
        /// The server can't be reached; it is tried again after a while.
        case unreachable(String)
        case arrived(Arrival)
    }

    private let socket: String
    private let apps: [App]
    private let group: MultiThreadedEventLoopGroup
    private let handler: @Sendable (Event) -> Void
    private let state = Locked(State())

    private struct State {
        var isWanted = true
        var isStopped = false
        var link: DeviceClient?
    }

    /// - Parameter handler: called one event after another, on a thread that it must not hold up for long.
    package init(folder: URL, apps: [App], handler: @escaping @Sendable (Event) -> Void) {
        socket = folder.appending(path: DeviceSocket.name).path(percentEncoded: false)
        self.apps = apps
        self.handler = handler
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    }

    /// Until ``stop()``: connects, and again whenever the connection ends, after 50 ms at first and at most 2 s.
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
                // At random, so that a thousand devices do not come back at once.
                let wait = pause * Double.random(in: 0.5...1)
                handler(.unreachable("\(type(of: error))"))
                try? await Task.sleep(for: wait)
                pause = min(pause * 2, .seconds(2))
            }
            if Task.isCancelled { break }
        }
        try? await group.shutdownGracefully()
    }

    /// Comes back, or goes away as if the network had gone: what is in flight is not acknowledged.
    package func setOnline(_ isOnline: Bool) {
        let link = state.withLock { state in
            state.isWanted = isOnline
            return isOnline ? nil : state.link
        }
        link?.close()
    }

    /// Ends ``run()``; what was not acknowledged comes again.
    package func stop() {
        let link = state.withLock { state in
            state.isStopped = true
            return state.link
        }
        link?.close()
    }

    private func serveOneConnection() async throws {
        let apps = apps
        let handler = handler
        let state = state
        let channel = try await DeviceSocket.connect(socket, group) { channel in
            let client = DeviceClient(channel, apps: apps, handler: handler)
            // Before anything can arrive: what is acknowledged at once must find its way.
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

/// The devices' end of one connection: registers them all, then says that they are there.
final class DeviceClient: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let link: ConnectedDevices
    private let channel: any Channel
    private let apps: [DeviceReceiver.App]
    private let handler: @Sendable (DeviceReceiver.Event) -> Void
    private let state: Locked<State>

    private struct State {
        var received = ByteBuffer()
        var tokens: [String?]
        var places: [String: Int] = [:]
        var missingCount: Int
        var isWatched = false
    }

    init(
        _ channel: any Channel, apps: [DeviceReceiver.App], handler: @escaping @Sendable (DeviceReceiver.Event) -> Void
    ) {
        self.channel = channel
        self.apps = apps
        self.handler = handler
        link = ConnectedDevices(channel)
        state = Locked(State(tokens: Array(repeating: nil, count: apps.count), missingCount: apps.count))
    }

    func send(_ frame: DeviceFrame) { link.send(frame) }

    /// Where somebody looks.
    func show(_ push: DeliveredPush, for arrival: DeviceReceiver.Arrival) {
        guard state.withLock({ $0.isWatched }) else { return }
        send(.showed(token: arrival.token, shown: ShownOnDevice(push, identifier: arrival.notification.identifier)))
    }

    func close() { channel.close(promise: nil) }

    func channelActive(context: ChannelHandlerContext) {
        for place in apps.indices { register(place) }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        var frames: [DeviceFrame] = []
        do {
            try state.withLock { state in
                state.received.writeBuffer(&bytes)
                while let frame = try DeviceFrame.read(from: &state.received) { frames.append(frame) }
                state.received.discardReadBytes()
            }
            for frame in frames { try handle(frame) }
        } catch { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func register(_ place: Int) {
        link.send(.register(request: place, name: apps[place].name, topic: apps[place].topic))
    }

    private func handle(_ frame: DeviceFrame) throws(DeviceFrame.Failure) {
        switch frame {
        case .registered(let request, let token):
            guard apps.indices.contains(request) else { throw .malformed }
            registered(request, token)
        case .unknown(let tokens):
            for place in tokens.compactMap({ token in state.withLock { $0.places[token] } }) { again(place) }
        case .notification(let number, let token, let notification):
            guard let place = state.withLock({ $0.places[token] }) else { return }
            handler(
                .arrived(
                    DeviceReceiver.Arrival(
                        device: place, notification: notification, number: number, token: token, client: self)))
        case .watched: state.withLock { $0.isWatched = true }
        case .register, .online, .acknowledge, .showed: throw .malformed
        }
    }

    private func again(_ place: Int) {
        state.withLock { state in
            if state.tokens[place] != nil { state.missingCount += 1 }
            state.tokens[place] = nil
        }
        register(place)
    }

    private func registered(_ place: Int, _ token: String) {
        let complete: [String]? = state.withLock { state in
            if state.tokens[place] == nil { state.missingCount -= 1 }
            state.tokens[place] = token
            state.places[token] = place
            return state.missingCount == 0 ? state.tokens.compactMap { $0 } : nil
        }
        guard let complete else { return }
        // The event first: nothing arrives before it.
        handler(.online(tokens: complete))
        for start in stride(from: 0, to: complete.count, by: DeviceFrame.maximumTokenCount) {
            let end = min(start + DeviceFrame.maximumTokenCount, complete.count)
            link.send(.online(tokens: Array(complete[start..<end])))
        }
    }
}
