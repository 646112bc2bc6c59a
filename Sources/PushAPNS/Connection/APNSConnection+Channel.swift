internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS

/// From the name to the peer's settings, and what the channel reports.
extension APNSConnection {
    /// Looks the name up afresh, connects and shakes hands.
    func open() {
        let endpoint = lane.endpoint
        // The deadline for all of it is the lane's to check; this one only frees the socket.
        ClientBootstrap(group: lane.eventLoop).connectTimeout(lane.deadlines.connect)
            .connect(host: endpoint.host, port: endpoint.port)
            .whenComplete { [self] result in
                switch result {
                case .success(let channel): connected(channel)
                case .failure(let error): close(because: ConnectionFault.text(error))
                }
            }
    }

    private func connected(_ channel: any Channel) {
        guard phase == .connecting else {
            channel.close(promise: nil)
            return
        }
        do {
            let tls = try lane.tls.makeHandler()
            try channel.pipeline.syncOperations.addHandlers([tls, self])
        } catch {
            channel.close(promise: nil)
            close(because: ConnectionFault.text(error))
        }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if !context.channel.isActive { close(because: "closed by the server") }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard phase != .closed else { return }
        switch event {
        case let event as NIOHTTP2WindowUpdatedEvent:
            if event.streamID == .rootStream, let size = event.inboundWindowSize { widenWindow(from: size) }
        case let event as StreamClosedEvent:
            // After the frame that closed it, so this finds only what no frame has explained.
            if let delivery = streams.removeValue(forKey: event.streamID) {
                lane.lost(delivery, "the stream was closed", surelyUnsent: false)
            }
        case let event as TLSUserEvent:
            guard case .handshakeCompleted(let negotiated) = event else { return }
            guard negotiated == "h2" else {
                return close(because: "the server does not offer HTTP/2 (ALPN h2)")
            }
            startHTTP2(context)
        default: break
        }
    }

    private func startHTTP2(_ context: ChannelHandlerContext) {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .enablePush, value: 0),
            HTTP2Setting(parameter: .maxConcurrentStreams, value: 0),
            HTTP2Setting(parameter: .maxHeaderListSize, value: Self.maximumHeaderByteCount),
        ]
        // A tenth of all work, for nothing: what we send is made of checked types, and of what arrives only a number and
        // a bounded, printable text are used.
        connection.headerBlockValidation = .disabled
        // Late answers to many streams that were cancelled or timed out are no fault of the peer.
        connection.maximumRecentlyResetStreams = 10_000
        // APNs changes its settings with each refusal; a flood is far above.
        connection.controlFrameRateLimit.maximumCount = Self.maximumControlFrameCount
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.streamResetFrameRateLimit.maximumCount = 100_000
        let handler = NIOHTTP2Handler(mode: .client, connectionConfiguration: connection, streamConfiguration: stream)
        do {
            try context.pipeline.syncOperations.addHandlers([WriteCoalescer(), handler], position: .before(self))
        } catch {
            close(because: ConnectionFault.text(error))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close(because: ConnectionFault.text(error))
    }

    func channelInactive(context: ChannelHandlerContext) { end() }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard phase != .closed else { return }
        lastReceivedAt = lane.clock.now()
        lane.dispatch(now: lastReceivedAt)
        flush()
    }

    /// Gives the peer its connection window back when half of it is used.
    private func widenWindow(from size: Int) {
        let whole = 65_535
        guard size < whole / 2, let context else { return }
        write(.windowUpdate(windowSizeIncrement: whole - size), to: .rootStream, context)
    }

    /// An answer's headers are about 200 bytes.
    static let maximumHeaderByteCount = 8_192
    /// In 30 s.
    static let maximumControlFrameCount = 10_000
}
