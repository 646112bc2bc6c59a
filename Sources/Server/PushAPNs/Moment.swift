import NIOCore
import SealedPush

/// An instant on both clocks. The monotonic clock stops while a machine is suspended; the wall clock can be set.
struct Moment {
    let uptime: NIODeadline
    let wall: Timestamp

    /// Whole seconds from `earlier` to this moment, by the clock that advanced further.
    func age(since earlier: Moment) -> Int64 {
        // Rounding can add a second to the wall clock's difference.
        max(uptimeSeconds(since: earlier), wall.seconds(since: earlier.wall) - 1)
    }

    /// The number of seconds by which the wall clock advanced more than the monotonic one.
    func drift(since earlier: Moment) -> Int64 { wall.seconds(since: earlier.wall) - uptimeSeconds(since: earlier) }

    func uptimeSeconds(since earlier: Moment) -> Int64 { (uptime - earlier.uptime).nanoseconds / 1_000_000_000 }
}
