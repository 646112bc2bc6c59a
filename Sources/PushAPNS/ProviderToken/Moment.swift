internal import NIOCore
internal import SealedPush

/// One instant on both clocks: the monotonic one stands still while a machine is suspended, the wall's can be set.
struct Moment {
    let uptime: NIODeadline
    let wall: Timestamp

    /// Whole seconds from `earlier` to this moment: what the clock says that has gone further.
    func age(since earlier: Moment) -> Int64 {
        // The wall's whole seconds may be one too many.
        max(uptimeSeconds(since: earlier), wall.seconds(since: earlier.wall) - 1)
    }

    /// How many seconds more the wall's clock has gone than the other.
    func drift(since earlier: Moment) -> Int64 {
        wall.seconds(since: earlier.wall) - uptimeSeconds(since: earlier)
    }

    func uptimeSeconds(since earlier: Moment) -> Int64 { (uptime - earlier.uptime).nanoseconds / 1_000_000_000 }
}
