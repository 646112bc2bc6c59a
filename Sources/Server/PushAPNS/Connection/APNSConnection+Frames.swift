internal import NIOCore
internal import NIOHPACK
internal import PushSender

/// What the peer says.
extension APNSConnection {
    func take(_ frame: IncomingFrame) throws(ProtocolViolation) {
        switch frame {
        case .headers(let streamID, let block, let isLast): try headers(streamID, block, isLast: isLast)
        case .data(let streamID, let bytes, let byteCount, let isLast):
            try data(streamID, bytes, byteCount: byteCount, isLast: isLast)
        case .reset(let streamID, let code): try reset(streamID, code)
        case .settings(let settings, let sentCount): try follow(settings, sentCount: sentCount)
        case .settingsAcknowledged:
            guard awaitsSettingsAcknowledgement else {
                throw ProtocolViolation(.protocolError, "an acknowledgement of nothing")
            }
            awaitsSettingsAcknowledgement = false
        case .ping(let number):
            try floodGuard.took(isQuestion: true, now: lane.clock.now())
            try answers.wrote(isTaken: isTaking)
            writer.ping(number, isAnswer: true)
        case .pingAnswer(let number):
            try floodGuard.took(now: lane.clock.now())
            if number == UInt64(self.number) { pingSentAt = nil }
        case .goAway(let lastStreamID, let code, let data):
            try floodGuard.took(data.readableBytes, now: lane.clock.now())
            try goAway(lastStreamID, code, data)
        case .windowUpdate(let streamID, let increment): try widen(streamID, by: increment)
        case .other(let byteCount): try floodGuard.took(byteCount, now: lane.clock.now())
        }
    }

    /// The push on a stream; nil where it was given up. A stream that this connection never opened is a violation.
    private func openStream(_ streamID: Int32, isLast: Bool) throws(ProtocolViolation) -> Delivery? {
        if let delivery = streams[streamID] { return delivery }
        try requireOurs(streamID)
        guard resetStreams.contains(streamID) else {
            throw ProtocolViolation(.streamClosed, "a frame on a closed stream")
        }
        if isLast { resetStreams.ended(streamID) }
        return nil
    }

    private func requireOurs(_ streamID: Int32) throws(ProtocolViolation) {
        guard !streamID.isMultiple(of: 2), streamID < nextStreamID else {
            throw ProtocolViolation(.protocolError, "a frame on a stream that was never opened")
        }
    }

    // MARK: Answers

    private func headers(_ streamID: Int32, _ block: ByteBuffer, isLast: Bool) throws(ProtocolViolation) {
        var block = block
        let byteCount = block.readableBytes
        // Also for a stream that was given up: the table goes on.
        guard let headers = try? headerDecoder.decodeHeaders(from: &block) else {
            throw ProtocolViolation(.compressionError, "headers that cannot be read or are too long")
        }
        let delivery = try openStream(streamID, isLast: isLast)
        let wasBegun = delivery?.response.isBegun ?? true
        try delivery?.response.take(headers, isLast: isLast)
        if isLast {
            if let delivery { complete(delivery) }
        } else if wasBegun == delivery?.response.isBegun ?? true {
            // 1xx, of which there may be any number, or what nobody waits for any more.
            try floodGuard.took(byteCount, fieldCount: headers.count, now: lane.clock.now())
        }
    }

    private func data(
        _ streamID: Int32, _ bytes: ByteBuffer, byteCount: Int, isLast: Bool
    ) throws(ProtocolViolation) {
        try took(byteCount)
        if byteCount == 0, !isLast { try floodGuard.took(now: lane.clock.now()) }
        guard let delivery = try openStream(streamID, isLast: isLast) else {
            // Its bytes are given back to the peer's window: they alone would never end.
            if byteCount > 0, !isLast { try floodGuard.took(byteCount, now: lane.clock.now()) }
            return
        }
        let isWanted = try delivery.response.take(bytes, flowControlledByteCount: byteCount, isLast: isLast)
        if isLast {
            complete(delivery)
        } else if !isWanted {
            finish(abandon(streamID))
        }
    }

    /// Gives the peer its connection window back when half of it is used. Those of streams are larger than any body.
    private func took(_ byteCount: Int) throws(ProtocolViolation) {
        receiveWindow -= byteCount
        guard receiveWindow >= 0 else { throw ProtocolViolation(.flowControlError, "more data than allowed") }
        guard receiveWindow < HTTP2Size.initialWindow / 2 else { return }
        writer.windowUpdate(HTTP2Size.initialWindow - receiveWindow)
        receiveWindow = HTTP2Size.initialWindow
    }

    private func complete(_ delivery: Delivery) {
        // Its answer came before we were done: the stream is still half open.
        if !delivery.isBodySent { writer.reset(delivery.streamID, .cancel) }
        finish(removeStream(delivery.streamID))
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

    private func reset(_ streamID: Int32, _ code: ErrorCode) throws(ProtocolViolation) {
        guard let delivery = removeStream(streamID) else {
            try requireOurs(streamID)
            try floodGuard.took(now: lane.clock.now())
            return resetStreams.ended(streamID)
        }
        if delivery.response.isRefusal || code == .noError && delivery.response.answer != nil {
            finish(delivery)
        } else {
            // RFC 9113, 8.7: REFUSED_STREAM says that nothing was processed.
            lane.lost(delivery, "the stream was reset: \(code.name)", surelyUnsent: code == .refusedStream)
        }
        closeIfDrained()
    }

    // MARK: The connection

    private func follow(_ settings: [PeerSetting], sentCount: Int) throws(ProtocolViolation) {
        try floodGuard.took(fieldCount: sentCount, isQuestion: true, now: lane.clock.now())
        try answers.wrote(isTaken: isTaking)
        // Before any data that the new settings let through.
        writer.acknowledgeSettings()
        // RFC 9113, 6.5.2: no limit where none is named.
        if phase == .connecting { peerStreamLimit = Self.streamLimitWhereNoneIsNamed }
        for setting in settings {
            switch setting {
            case .headerTableByteCount(let byteCount): limitHeaderTable(to: byteCount)
            case .streamLimit(let limit): peerStreamLimit = min(limit, Self.maximumStreamLimit)
            case .initialWindow(let window): try bodies.beginWith(window, open: streams.values, &writer)
            }
        }
        becomeReady()
    }

    private func widen(_ streamID: Int32, by increment: Int) throws(ProtocolViolation) {
        try floodGuard.took(now: lane.clock.now())
        if streamID == 0 {
            try bodies.widen(nil, by: increment, &writer)
        } else if let delivery = streams[streamID] {
            try bodies.widen(delivery, by: increment, &writer)
        } else {
            try requireOurs(streamID)
        }
    }

    private func goAway(_ lastStreamID: Int32, _ code: ErrorCode, _ data: ByteBuffer) throws(ProtocolViolation) {
        goAwayCount += 1
        guard goAwayCount <= Self.maximumGoAwayCount else {
            throw ProtocolViolation(.enhanceYourCalm, "farewells without end")
        }
        let reason = ErrorBody(Array(data.readableBytesView)).reason ?? code.name
        endReason = "APNs ended the connection: \(reason)"
        lane.log.wentAway(connection: number, reason: reason)
        if code == .enhanceYourCalm || reason.hasPrefix("TooMany") { lane.slowDown(self, because: reason) }
        retire(because: reason)
        // RFC 9113, 6.8: streams above the last were not and will not be processed.
        let unsent = streams.keys.filter { $0 > lastStreamID }.sorted()
        for streamID in unsent.reversed() {
            guard let delivery = removeStream(streamID) else { continue }
            resetStreams.insert(streamID)
            lane.lost(delivery, endReason ?? reason, surelyUnsent: true)
        }
        closeIfDrained()
    }

    /// Two are usual: one that says that it will end, and one that it does. Each is logged.
    private static let maximumGoAwayCount = 10
    private static let streamLimitWhereNoneIsNamed = 1_000
    /// Apple's is about 1,000. No more are used, whatever the peer says.
    private static let maximumStreamLimit = 10_000
}
