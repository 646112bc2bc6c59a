package import NIOCore
package import SealedPush

/// The time and the chance that a transport goes by. Tests bring their own.
package struct TransportClock: Sendable {
    /// For deadlines and ages.
    package let now: @Sendable () -> NIODeadline
    /// For the `iat` of a provider token.
    package let wall: @Sendable () -> Timestamp
    /// A number from 0 up to 1, for jitter.
    package let chance: @Sendable () -> Double
    /// How often deadlines are checked, in real time.
    package let tick: TimeAmount

    package init(
        now: @escaping @Sendable () -> NIODeadline = { .now() },
        wall: @escaping @Sendable () -> Timestamp = { .now() },
        chance: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        tick: TimeAmount = .milliseconds(100)
    ) {
        self.now = now
        self.wall = wall
        self.chance = chance
        self.tick = tick
    }
}

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
