/// A refusal: the reason and, for 410, the time at which the token became inactive.
package struct LocalAPNsRefusal: Error, Hashable, Sendable {
    package let reason: LocalAPNsReason
    /// Milliseconds since 1970.
    package var timestamp: Int64?

    package init(_ reason: LocalAPNsReason, timestamp: Int64? = nil) {
        self.reason = reason
        self.timestamp = timestamp
    }

    /// The response's body.
    var json: String {
        guard let timestamp else { return "{\"reason\":\"\(reason.rawValue)\"}" }
        return "{\"reason\":\"\(reason.rawValue)\",\"timestamp\":\(timestamp)}"
    }
}
