internal import NIOCore
internal import NIOHTTP2
internal import PushSender

/// What the peer says.
extension APNSConnection {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase != .closed else { return }
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let content):
            guard let delivery = streams[frame.streamID] else { return }
            delivery.response.take(content.headers)
            if content.endStream { complete(frame.streamID) }
        case .data(let content):
            guard let delivery = streams[frame.streamID] else { return }
            let isWanted = delivery.response.take(content.data)
            if content.endStream {
                complete(frame.streamID)
            } else if !isWanted {
                finish(abandon(frame.streamID))
            }
        case .rstStream(let code): reset(frame.streamID, code)
        case .settings(.settings(let settings)): follow(settings)
        case .goAway(let lastStreamID, let code, let data): goAway(lastStreamID, code, data)
        case .ping(_, ack: true): pingSentAt = nil
        default: break
        }
    }

    private func complete(_ streamID: HTTP2StreamID) {
        finish(streams.removeValue(forKey: streamID))
        closeIfDrained()
    }

    /// Hands on the answer, as far as it came.
    private func finish(_ delivery: Delivery?) {
        guard let delivery else { return }
        delivery.connection = nil
        if let answer = delivery.response.answer {
            lane.answered(delivery, answer, on: self)
        } else {
            lane.lost(delivery, "the answer had no status", surelyUnsent: false)
        }
    }

    private func reset(_ streamID: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        guard let delivery = streams.removeValue(forKey: streamID) else { return }
        if delivery.response.isRefusal || code == .noError && delivery.response.answer != nil {
            finish(delivery)
        } else {
            // RFC 9113, 8.7: REFUSED_STREAM says that nothing was processed.
            lane.lost(delivery, "the stream was reset: \(code.name)", surelyUnsent: code == .refusedStream)
        }
        closeIfDrained()
    }

    private func follow(_ settings: HTTP2Settings) {
        for setting in settings where setting.parameter == .maxConcurrentStreams { peerStreamLimit = setting.value }
        if phase == .connecting {
            // RFC 9113, 6.5.2: no limit where none is named.
            if !settings.contains(where: { $0.parameter == .maxConcurrentStreams }) {
                peerStreamLimit = Self.streamLimitWhereNoneIsNamed
            }
            becomeReady()
        }
    }

    private func goAway(_ lastStreamID: HTTP2StreamID, _ code: HTTP2ErrorCode, _ data: ByteBuffer?) {
        let reason = data.flatMap { ErrorBody(Array($0.readableBytesView)).reason } ?? code.name
        endReason = "APNs ended the connection: \(reason)"
        lane.log.wentAway(connection: number, reason: reason)
        retire(because: reason)
        // RFC 9113, 6.8: streams above the last were not and will not be processed.
        let unsent = streams.keys.filter { $0 > lastStreamID }.sorted()
        for streamID in unsent.reversed() {
            guard let delivery = streams.removeValue(forKey: streamID) else { continue }
            lane.lost(delivery, endReason ?? reason, surelyUnsent: true)
        }
        closeIfDrained()
    }

    private static let streamLimitWhereNoneIsNamed = 1_000
}

extension HTTP2ErrorCode {
    /// The name in RFC 9113, 7.
    var name: String {
        switch self {
        case .noError: "NO_ERROR"
        case .protocolError: "PROTOCOL_ERROR"
        case .internalError: "INTERNAL_ERROR"
        case .flowControlError: "FLOW_CONTROL_ERROR"
        case .settingsTimeout: "SETTINGS_TIMEOUT"
        case .streamClosed: "STREAM_CLOSED"
        case .frameSizeError: "FRAME_SIZE_ERROR"
        case .refusedStream: "REFUSED_STREAM"
        case .cancel: "CANCEL"
        case .compressionError: "COMPRESSION_ERROR"
        case .connectError: "CONNECT_ERROR"
        case .enhanceYourCalm: "ENHANCE_YOUR_CALM"
        case .inadequateSecurity: "INADEQUATE_SECURITY"
        case .http11Required: "HTTP_1_1_REQUIRED"
        default: "error \(networkCode)"
        }
    }
}
