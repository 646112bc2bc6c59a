internal import NIOCore

/// Sees where frames and header blocks begin and end. HTTP/2's own handler shows none of them before it is whole, so that a
/// peer that leaves one unfinished would look like one that is silent.
///
/// Source: RFC 9113, 4.1 and 4.3.
final class FrameWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Since when a frame or header block has not been finished; nil between two.
    private(set) var unfinishedSince: NIODeadline?
    /// Of the preface, then of the current frame's payload.
    private var missingByteCount = 24
    private var headByteCount = 0
    private var length = 0
    private var type: UInt8 = 0
    private var flags: UInt8 = 0
    private var isInHeaderBlock = false
    private var hasFinishedOne = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        follow(unwrapInboundIn(data).readableBytesView)
        context.fireChannelRead(data)
    }

    private func follow(_ bytes: ByteBufferView) {
        hasFinishedOne = false
        var place = bytes.startIndex
        while place < bytes.endIndex {
            if missingByteCount > 0 {
                let count = min(missingByteCount, bytes.endIndex - place)
                place += count
                missingByteCount -= count
                if missingByteCount == 0 { finish() }
            } else {
                takeHead(bytes[place])
                place += 1
            }
        }
        let isUnfinished = missingByteCount > 0 || headByteCount > 0 || isInHeaderBlock
        if !isUnfinished {
            unfinishedSince = nil
        } else if hasFinishedOne || unfinishedSince == nil {
            unfinishedSince = .now()
        }
    }

    /// Three bytes of length, one of type, one of flags, four of stream.
    private func takeHead(_ byte: UInt8) {
        switch headByteCount {
        case 0: length = Int(byte)
        case 1, 2: length = length << 8 | Int(byte)
        case 3: type = byte
        case 4: flags = byte
        default: break
        }
        headByteCount += 1
        guard headByteCount == 9 else { return }
        headByteCount = 0
        missingByteCount = length
        if length == 0 { finish() }
    }

    private func finish() {
        let (headers, continuation, endHeaders): (UInt8, UInt8, UInt8) = (1, 9, 4)
        if type == headers || type == continuation { isInHeaderBlock = flags & endHeaders == 0 }
        if !isInHeaderBlock { hasFinishedOne = true }
    }
}

/// Gathers the small writes of HTTP/2 frames until they are flushed, so that they share TLS records and copies.
final class WriteGathering: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = ByteBuffer

    private var gathered: ByteBuffer?
    private var promises: [EventLoopPromise<Void>] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(var bytes) = unwrapOutboundIn(data) else {
            promise?.fail(ChannelError.inputClosed)
            return
        }
        if let promise { promises.append(promise) }
        if gathered == nil { gathered = context.channel.allocator.buffer(capacity: 16_384) }
        gathered?.writeBuffer(&bytes)
    }

    func flush(context: ChannelHandlerContext) {
        send(context)
        context.flush()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        send(context)
        context.close(mode: mode, promise: promise)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        for promise in promises { promise.fail(ChannelError.alreadyClosed) }
        promises = []
    }

    private func send(_ context: ChannelHandlerContext) {
        guard let bytes = gathered else { return }
        gathered = nil
        guard !promises.isEmpty else {
            context.write(wrapOutboundOut(bytes), promise: nil)
            return
        }
        let all = context.eventLoop.makePromise(of: Void.self)
        for promise in promises { all.futureResult.cascade(to: promise) }
        promises = []
        context.write(wrapOutboundOut(bytes), promise: all)
    }
}

/// How many streams a connection may have: one until a push was accepted, fewer after errors, all again after
/// successes; and when it has made too many errors to stay.
struct StreamThrottle {
    private let configuration: LocalAPNsConfiguration
    private var current = 1
    private var hasSucceeded = false
    private var successCount = 0
    private var errorScore = 0.0

    init(_ configuration: LocalAPNsConfiguration) { self.configuration = configuration }

    var isOutOfPatience: Bool { errorScore >= configuration.errorScoreLimit }

    /// The limit to announce after a request, where it has changed.
    mutating func count(_ handled: LocalAPNsCore.Handled) -> [Int] {
        var wanted = current
        if let refusal = handled.refusal {
            if refusal.reason.isErrorCondition {
                errorScore += refusal.reason == .badDeviceToken ? 10 : 1
                successCount = 0
                if hasSucceeded { wanted = min(configuration.streamLimitAfterError, configuration.streamLimit) }
            }
        } else {
            errorScore = max(0, errorScore - 0.1)
            successCount += 1
            // Source: Apple, "Sending notification requests to APNs".
            if !hasSucceeded { successCount = configuration.successesUntilRestored }
            hasSucceeded = true
            if successCount >= configuration.successesUntilRestored { wanted = configuration.streamLimit }
        }
        guard wanted != current else { return [] }
        current = wanted
        return [wanted]
    }
}
