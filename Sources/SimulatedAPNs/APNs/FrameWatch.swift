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
