package import PushSender

/// The right to send one entry until a deadline, and the push to send.
package struct Lease: Sendable, Equatable {
    /// The row of the device. No other courier sends to it in the meantime.
    package let device: Int64
    package let entry: Int64
    /// Distinguishes this lease from other leases of the device.
    package let number: Int64
    /// The number of times that the entry was taken, including this one.
    package let attempts: Int
    package let request: PushRequest
    /// The entry as it was read.
    package let entryRow: EntryRow

    package init(device: Int64, entry: Int64, number: Int64, attempts: Int, request: PushRequest, entryRow: EntryRow) {
        self.device = device
        self.entry = entry
        self.number = number
        self.attempts = attempts
        self.request = request
        self.entryRow = entryRow
    }
}
