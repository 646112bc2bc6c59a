/// The names of the outcomes that pushes are counted under, per day.
package enum Tally {
    package static let accepted = "accepted"
    package static let expired = "expired"
    package static let purged = "purged"
    /// Removed with the device, its address, or its account.
    package static let discarded = "discarded"
    /// Additional names for counting a message's pushes.
    package static let (enqueued, waiting) = ("enqueued", "waiting")
    package static func dropped(_ reason: String) -> String { "dropped:\(reason)" }
    /// An expired push may have become a dead letter because the time was uncertain.
    package static func refused(_ reason: String) -> String { reason == expired ? expired : "refused:\(reason)" }
}
