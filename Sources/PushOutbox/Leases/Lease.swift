import PushSender

/// The right to send one entry until some moment, and what is sent.
struct Lease: Sendable {
    /// The row of the device, for which nobody else sends meanwhile.
    let device: Int64
    let entry: Int64
    /// Tells this lease from any other of the device.
    let number: Int64
    /// How often the entry was taken, this time included.
    let attempts: Int
    /// Milliseconds since 1970: from then on, another may take it.
    var end: Int64
    let request: PushRequest
}

/// What becomes of a lease.
enum Settlement: Sendable, Equatable {
    /// The service has it.
    case accepted
    /// Sent again after this long.
    case later(Duration)
    /// Not sent at all; counts as no attempt.
    case returned
    /// Kept as a dead letter.
    case dead(reason: String)
    /// The address is gone since a moment: it is removed, and what waits for it, unless it was registered again since then.
    /// If so, the entry is sent again after a while.
    case addressGone(reason: String, since: Timestamp, otherwise: Duration)
    /// The address is refused: it is disabled, and what waits for it becomes dead letters.
    case addressRefused(reason: String)
}
