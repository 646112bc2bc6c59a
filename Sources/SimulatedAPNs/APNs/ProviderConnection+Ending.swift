internal import NIOCore
internal import NIOHTTP2
internal import SealedPush

/// How a connection ends: what is too slow, GOAWAY from either side, and what is still owed then.
extension ProviderConnection {
    func tick(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        let timeout = TimeAmount.milliseconds(core.configuration.requestTimeout.milliseconds)
        for (stream, open) in requests where now - open.start > timeout {
            requests[stream] = nil
            core.note("request-timeout", connection: number, ["stream": .integer(Int64(Int(stream)))])
            write(.rstStream(.cancel), on: stream, context)
        }
        if let since = frames.unfinishedSince, now - since > timeout {
            core.note("frame-timeout", connection: number)
            // TLS waits for the client's farewell.
            ticking?.cancel()
            context.close(promise: nil)
            return
        }
        if now - lastRequest > .milliseconds(core.configuration.idleTimeout.milliseconds) {
            goAway(.idleTimeout, context)
        }
        context.flush()
        closeIfDone(context)
    }

    /// Answers what has come so far, takes no more, and closes a little later: closing at once could throw away what the
    /// peer has not read yet.
    func goAway(_ reason: APNsReason?, _ context: ChannelHandlerContext) {
        guard closing == nil else { return }
        let json = context.channel.allocator.buffer(string: reason.map { APNsRefusal($0).json } ?? "")
        write(
            .goAway(lastStreamID: lastStream, errorCode: .noError, opaqueData: reason == nil ? nil : json),
            on: .rootStream, context)
        context.flush()
        core.note("goaway", connection: number, ["reason": reason.map { .string($0.rawValue) } ?? .null])
        beginClosing(isByPeer: false, context)
    }

    /// The peer wants no more than the answers to what it has asked.
    func peerGoesAway(_ context: ChannelHandlerContext) {
        core.note("peer-goaway", connection: number)
        guard closing == nil else { return }
        beginClosing(isByPeer: true, context)
        closeIfDone(context)
    }

    private func beginClosing(isByPeer: Bool, _ context: ChannelHandlerContext) {
        let time = TimeAmount.milliseconds(core.configuration.closingTime.milliseconds)
        closing = (NIODeadline.now() + time, isByPeer)
        let this = NIOLoopBound(self, eventLoop: context.eventLoop)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: time) { this.value.closeIfDone(bound.value) }
    }

    /// Requests that have not ended are waited for until the closing time is over, delayed answers for as long as they
    /// take: they were promised.
    func closeIfDone(_ context: ChannelHandlerContext) {
        guard let closing, delayed.isEmpty else { return }
        guard NIODeadline.now() >= closing.deadline || (closing.isByPeer && requests.isEmpty) else { return }
        context.flush()
        context.close(promise: nil)
    }
}

/// Tells a connection to end.
struct GoAwayEvent: Sendable {
    let reason: APNsReason?
}

extension Duration {
    var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
