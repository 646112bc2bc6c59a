internal import NIOCore
internal import NIOHPACK
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS

/// From the name to the peer's settings, and what the channel reports.
extension APNSConnection {
    /// Looks the name up afresh, connects and shakes hands.
    func open() {
        let endpoint = lane.endpoint
        guard let bootstrap = ClientBootstrap(validatingGroup: lane.eventLoop) else {
            return lane.eventLoop.execute { self.close(because: "this event loop opens no connections") }
        }
        // The deadline for all of it is the lane's to check; this one only frees the socket.
        bootstrap.connectTimeout(lane.deadlines.connect)
            .connect(host: endpoint.host, port: endpoint.port)
            .whenComplete { [self] result in
                switch result {
                case .success(let channel): connected(channel)
                case .failure(let error): close(because: ConnectionFault.text(error, at: lane.endpoint))
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
            close(because: ConnectionFault.text(error, at: lane.endpoint))
        }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if !context.channel.isActive { close(because: "closed by the server") }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard phase != .closed, let event = event as? TLSUserEvent, case .handshakeCompleted(let negotiated) = event
        else { return }
        guard negotiated == "h2" else { return close(because: "the server does not offer HTTP/2 (ALPN h2)") }
        writer.preface(maximumHeaderByteCount: UInt32(Self.maximumHeaderByteCount))
        awaitsSettingsAcknowledgement = true
        flush()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase != .closed else { return }
        reader.append(unwrapInboundIn(data))
        do throws(ProtocolViolation) {
            while phase != .closed, let frame = try reader.next() { try take(frame) }
        } catch {
            violated(error)
        }
    }

    /// The peer is told why, if it still reads, and everything on the connection fails: whoever breaks the protocol has earned no finer treatment.
    private func violated(_ violation: ProtocolViolation) {
        writer.goAway(violation.code)
        flush()
        cut(because: "HTTP/2: " + violation.what)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard phase != .closed else { return }
        lastReceivedAt = lane.clock.now()
        lane.dispatch(now: lastReceivedAt)
        flush()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close(because: ConnectionFault.text(error, at: lane.endpoint))
    }

    func channelInactive(context: ChannelHandlerContext) { end() }

    func handlerRemoved(context: ChannelHandlerContext) { end() }
}
