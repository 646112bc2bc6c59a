/// A connection's current request and its response: whether to read on, and when the connection must end. A pure value.
///
/// A connection has one request at a time. Nothing is read while a whole request waits for its response, and a request
/// that arrived anyway ends the connection. Otherwise a caller could have thousands of requests decoded and waiting by
/// sending them in one burst. A request that was answered before its end is the connection's last, so that the rest of it
/// costs nothing.
struct Exchange {
    /// The most bytes of a request on the wire, including its head, the framing of its chunks, and TLS.
    let maximumByteCount: Int
    private(set) var byteCount = 0
    private var decodedByteCount = 0
    private(set) var phase = Phase.waiting
    /// Whether the request or the response says `Connection: close`.
    private var isLast = false

    enum Phase {
        /// For a request's head.
        case waiting
        /// The head was read, but not the end.
        case receiving
        /// The whole request was read, but its response isn't written.
        case answering
        /// The last response was written. Later bytes are dropped: closing at once could destroy the response in
        /// transit. Source: RFC 9112, 9.6.
        case lingering
    }

    init(maximumByteCount: Int) { self.maximumByteCount = maximumByteCount }

    /// Whether more should be read.
    var isReading: Bool { phase != .answering }

    /// Takes bytes from the network. Returns false if the connection must end.
    mutating func receive(_ count: Int) -> Bool {
        byteCount += count
        return byteCount <= maximumByteCount
    }

    /// Returns how many of the available bytes to decode in one turn of the event loop. The first 16 KB of a request are
    /// decoded in small portions: a kilobyte can contain a hundred requests or chunks, and most callers that send such are
    /// refused before their next turn.
    mutating func portion(of count: Int) -> Int {
        let portion = decodedByteCount < 16_384 ? min(count, 1_024) : count
        decodedByteCount += portion
        return portion
    }

    /// Takes a request's head. Returns false if the connection must end, because the previous request isn't finished.
    mutating func begin(isLast: Bool) -> Bool {
        guard phase == .waiting else { return false }
        phase = .receiving
        self.isLast = isLast
        return true
    }

    /// Takes a request's end.
    mutating func end() { if phase == .receiving { phase = .answering } }

    /// Takes a response's head. Returns whether this is the connection's last response.
    mutating func answer(isLast: Bool) -> Bool {
        if isLast || phase != .answering { self.isLast = true }
        return self.isLast
    }

    /// The response was written. Returns whether the connection lingers.
    mutating func finish() -> Bool {
        phase = isLast ? .lingering : .waiting
        (byteCount, decodedByteCount) = (0, 0)
        return isLast
    }
}
