internal import NIOCore
internal import PushSimulator
internal import _PushBase

/// The devices' end of one connection: registers them all, then says that they are there.
final class DeviceClient: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let link: ConnectedDevices
    private let channel: any Channel
    private let number: Int
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
        _ channel: any Channel, number: Int, apps: [DeviceReceiver.App],
        handler: @escaping @Sendable (DeviceReceiver.Event) -> Void
    ) {
        self.channel = channel
        self.number = number
        self.apps = apps
        self.handler = handler
        link = ConnectedDevices(channel)
        state = Locked(State(tokens: Array(repeating: nil, count: apps.count), missingCount: apps.count))
    }

    func send(_ frame: DeviceFrame) { link.send(frame) }

    /// Where somebody looks.
    func show(_ push: DeliveredPush, for arrival: DeviceReceiver.Arrival) {
        guard state.withLock({ $0.isWatched }) else { return }
        let shown = ShownOnDevice(push, identifier: arrival.notification.identifier)
        send(.showed(token: arrival.token, json: shown.bytes))
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
        } catch {
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func register(_ place: Int) {
        link.send(.register(request: UInt32(place), name: apps[place].name, topic: apps[place].topic))
    }

    private func handle(_ frame: DeviceFrame) throws(DeviceFrame.Failure) {
        switch frame {
        case .registered(let request, let token):
            guard Int(request) < apps.count else { throw .malformed }
            registered(Int(request), token)
        case .unknown(let tokens):
            for place in tokens.compactMap({ token in state.withLock { $0.places[token] } }) { again(place) }
        case .notification(let number, let token, let notification):
            guard let place = state.withLock({ $0.places[token] }) else { return }
            handler(
                .arrived(
                    DeviceReceiver.Arrival(
                        device: place, notification: notification, number: number, token: token, link: self.number)))
        case .watched: state.withLock { $0.isWatched = true }
        case .register, .online, .offline, .acknowledge, .showed: throw .malformed
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
