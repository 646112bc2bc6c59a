/// The decision about a queue whose oldest entry was judged, which a store carries out.
package enum QueueVerdict: Sendable, Equatable {
    /// Record the lease, and hand it to the courier.
    case lease(Lease)
    /// Remove the entry, and count it under this outcome. Then judge the queue again, with its next entry.
    case remove(entry: Int64, outcome: String)
    /// Move the entry to the dead letters. Then judge the queue again, with its next entry.
    case bury(entry: Int64, reason: String)
    /// Move all entries of the device to the dead letters, and remove the queue.
    case buryAll(device: Int64, reason: String)
    /// Remove the queue: no entry is waiting.
    case removeQueue
}
