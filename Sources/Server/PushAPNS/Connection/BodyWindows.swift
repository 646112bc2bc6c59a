internal import NIOCore
internal import PushSender

/// Sends bodies as far as the peer's windows allow, and the rest when it opens them. Source: RFC 9113, 5.2.
///
/// Most fit at once and cost two comparisons. The others wait in the order of their pushes.
struct BodyWindows {
    private var connectionWindow = HTTP2Size.initialWindow
    private var initialWindow = HTTP2Size.initialWindow
    private var waiting = CircularBuffer<Delivery>()

    /// Right after the push's headers.
    mutating func send(_ delivery: Delivery, to writer: inout FrameWriter) {
        delivery.window = initialWindow
        if !sendWhatFits(delivery, to: &writer) { waiting.append(delivery) }
    }

    /// Whether all of it is sent.
    private mutating func sendWhatFits(_ delivery: Delivery, to writer: inout FrameWriter) -> Bool {
        let body = delivery.request.body
        while !delivery.isBodySent {
            let start = delivery.sentByteCount
            let restCount = body.count - start
            // A stream's window can be less than nothing.
            let byteCount = max(0, min(restCount, connectionWindow, delivery.window, HTTP2Size.maximumPayload))
            guard byteCount > 0 || restCount == 0 else { return false }
            connectionWindow -= byteCount
            delivery.window -= byteCount
            delivery.sentByteCount += byteCount
            delivery.isBodySent = byteCount == restCount
            writer.data(body[start..<start + byteCount], on: delivery.streamID, isLast: delivery.isBodySent)
        }
        return true
    }

    /// Its stream is no longer open.
    mutating func forget(_ delivery: Delivery) {
        if !delivery.isBodySent { waiting.removeAll { $0 === delivery } }
    }

    /// In their order; those whose own window is too small keep their place.
    private mutating func sendWaiting(to writer: inout FrameWriter) {
        var stuck: [Delivery] = []
        while connectionWindow > 0, let delivery = waiting.popFirst() {
            if !sendWhatFits(delivery, to: &writer) { stuck.append(delivery) }
        }
        for delivery in stuck.reversed() { waiting.prepend(delivery) }
    }

    // MARK: What the peer says

    /// It takes more, on all streams together or on that of one push.
    mutating func widen(
        _ delivery: Delivery?, by increment: Int, _ writer: inout FrameWriter
    ) throws(ProtocolViolation) {
        if let delivery {
            delivery.window = try Self.sum(delivery.window, increment)
        } else {
            connectionWindow = try Self.sum(connectionWindow, increment)
        }
        if !waiting.isEmpty { sendWaiting(to: &writer) }
    }

    /// Streams begin with another window, and those that are open are changed by as much: even to less than nothing.
    mutating func beginWith(
        _ window: Int, open streams: some Sequence<Delivery>, _ writer: inout FrameWriter
    ) throws(ProtocolViolation) {
        let change = window - initialWindow
        guard change != 0 else { return }
        initialWindow = window
        for delivery in streams { delivery.window = try Self.sum(delivery.window, change) }
        if !waiting.isEmpty { sendWaiting(to: &writer) }
    }

    private static func sum(_ window: Int, _ change: Int) throws(ProtocolViolation) -> Int {
        guard window + change <= HTTP2Size.maximumWindow else {
            throw ProtocolViolation(.flowControlError, "a window that is too large")
        }
        return window + change
    }
}
