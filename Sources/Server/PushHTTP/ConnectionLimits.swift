internal import NIOCore
internal import NIOHTTPTypes
internal import PushCore

/// The connections of one listener: a limit for all, and one for each address.
///
/// When there are too many in all, the one that has been silent longest makes room for the new one. So a stranger who opens
/// connections and says nothing keeps nobody out. Safe from many threads.
final class ConnectionCount: Sendable {
    private let maximumCount: Int
    private let maximumCountByAddress: Int
    private let state = Locked(State())

    private struct State {
        var count = 0
        var byAddress: [String: Int] = [:]
        /// Connections without a request, in the order in which they came.
        var silent: [(id: ObjectIdentifier, channel: any Channel)] = []
    }

    init(_ maximumCount: Int, byAddress maximumCountByAddress: Int) {
        // The process must always be able to open files of its own.
        self.maximumCount = min(maximumCount, max(1, (Descriptors.limit - 64) / 2))
        self.maximumCountByAddress = maximumCountByAddress
    }

    /// Counts a connection until it is closed; returns false if it must be closed at once.
    func open(_ channel: any Channel) -> Bool {
        let (id, address) = (ObjectIdentifier(channel), Self.address(of: channel))
        let (isOpen, ousted) = state.withLock { state -> (Bool, (any Channel)?) in
            if let address {
                guard state.byAddress[address, default: 0] < maximumCountByAddress else { return (false, nil) }
            }
            var ousted: (any Channel)?
            if state.count >= maximumCount {
                guard !state.silent.isEmpty else { return (false, nil) }
                ousted = state.silent.removeFirst().channel
            }
            state.count += 1
            if let address { state.byAddress[address, default: 0] += 1 }
            state.silent.append((id, channel))
            return (true, ousted)
        }
        ousted?.close(promise: nil)
        guard isOpen else { return false }
        channel.closeFuture.whenComplete { [state] _ in
            state.withLock { state in
                state.count -= 1
                state.silent.removeAll { $0.id == id }
                guard let address, let count = state.byAddress[address] else { return }
                state.byAddress[address] = count > 1 ? count - 1 : nil
            }
        }
        return true
    }

    func hasRequest(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        state.withLock { $0.silent.removeAll { $0.id == id } }
    }

    /// Returns nil for this machine, from which a proxy passes everybody's requests on. A network of IPv6 is one address.
    private static func address(of channel: any Channel) -> String? {
        guard let address = channel.remoteAddress?.ipAddress else { return nil }
        guard !address.hasPrefix("127."), address != "::1", !address.hasPrefix("::ffff:127.") else { return nil }
        guard address.contains(":"), !address.hasPrefix("::ffff:") else { return address }
        return address.split(separator: ":", omittingEmptySubsequences: false).prefix(4).joined(separator: ":")
    }
}

/// Closes a connection that takes too long over its first request, over any request or its answer, or sends more than any
/// request has.
///
/// Between two requests, Hummingbird's own limit for idle connections holds.
final class ConnectionLimits: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    private let count: ConnectionCount
    private let firstHeadTime: Duration
    private let requestTime: Duration
    private let maximumByteCount: Int
    private var reading: Scheduled<Void>?
    private var writing: Scheduled<Void>?
    private var byteCount = 0
    private var hasRequest = false

    init(_ count: ConnectionCount, firstHeadTime: Duration, requestTime: Duration, maximumByteCount: Int) {
        self.count = count
        self.firstHeadTime = firstHeadTime
        self.requestTime = requestTime
        self.maximumByteCount = maximumByteCount
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard reading == nil, !hasRequest else { return }
        guard count.open(context.channel) else { return context.close(promise: nil) }
        reading = deadline(firstHeadTime, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        reading?.cancel()
        writing?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            if !hasRequest { count.hasRequest(context.channel) }
            hasRequest = true
            byteCount = 0
            reading?.cancel()
            reading = deadline(requestTime, context)
        case .body(let bytes):
            byteCount += bytes.readableBytes
            guard byteCount <= maximumByteCount else { return context.close(promise: nil) }
        case .end:
            reading?.cancel()
            reading = nil
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head:
            writing?.cancel()
            writing = deadline(requestTime, context)
            context.write(data, promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise()
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            written.futureResult.whenComplete { _ in
                bound.value.writing?.cancel()
                bound.value.writing = nil
            }
            context.write(data, promise: written)
        }
    }

    private func deadline(_ time: Duration, _ context: ChannelHandlerContext) -> Scheduled<Void> {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        return context.eventLoop.scheduleTask(in: TimeAmount(time)) { bound.value.close(promise: nil) }
    }
}
