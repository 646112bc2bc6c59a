internal import NIOCore

/// Streams that we have given up, and whose answers may still be on their way: those are no fault of the peer.
///
/// Only the last 10,000 are remembered.
struct ResetStreams {
    private var streamIDs: Set<Int32> = []
    private var order = CircularBuffer<Int32>()

    mutating func insert(_ streamID: Int32) {
        guard streamIDs.insert(streamID).inserted else { return }
        order.append(streamID)
        while order.count > Self.limit { streamIDs.remove(order.removeFirst()) }
    }

    func contains(_ streamID: Int32) -> Bool { streamIDs.contains(streamID) }

    /// The peer has ended it too.
    mutating func ended(_ streamID: Int32) { streamIDs.remove(streamID) }

    private static let limit = 10_000
}
