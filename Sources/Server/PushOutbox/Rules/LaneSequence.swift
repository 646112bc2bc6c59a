package import PushSender

/// The lanes from which a store takes leases for one order, one after another: a share from the considerate lane, so that it
/// never starves, then the immediate lane, and then the considerate lane again with the rest.
package struct LaneSequence: Sendable {
    private let count: Int
    private var lanes: ArraySlice<(lane: PushPriority, limit: Int)>

    package init(_ order: LeaseOrder) {
        count = order.count
        lanes = [(.considerate, order.considerateCount), (.immediate, order.count), (.considerate, order.count)]
    }

    /// Returns the next lane and how many queues to take from it, or `nil` if the order is filled or no lane is left.
    ///
    /// - Parameter leaseCount: The number of leases taken so far.
    package mutating func next(after leaseCount: Int) -> (lane: PushPriority, limit: Int)? {
        while let (lane, limit) = lanes.popFirst() {
            let free = min(limit, count - leaseCount)
            if free > 0 { return (lane, free) }
        }
        return nil
    }
}
