package import NIOCore
package import SealedPush

/// The clocks and the random numbers that a transport uses. Tests replace them.
package struct TransportClock: Sendable {
    /// For deadlines and ages.
    package let now: @Sendable () -> NIODeadline
    /// For the `iat` of a provider token.
    package let wall: @Sendable () -> Timestamp
    /// A random number from 0 up to 1, for jitter.
    package let chance: @Sendable () -> Double
    /// The interval between deadline checks, in real time.
    package let tick: TimeAmount

    package init(
        now: @escaping @Sendable () -> NIODeadline = { .now() }, wall: @escaping @Sendable () -> Timestamp = { .now() },
        chance: @escaping @Sendable () -> Double = { .random(in: 0..<1) }, tick: TimeAmount = .milliseconds(100)
    ) {
        self.now = now
        self.wall = wall
        self.chance = chance
        self.tick = tick
    }
}
