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
