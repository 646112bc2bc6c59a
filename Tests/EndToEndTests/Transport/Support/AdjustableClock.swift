import NIOCore
import PushCore
import SealedPush

@testable import PushAPNS

/// The real time, and what a test adds to it.
final class AdjustableClock: Sendable {
    private let added = Locked(Int64(0))
    private let wallError = Locked(Int64(0))

    /// Lets time pass.
    func advance(seconds: Int64) { added.withLock { $0 += seconds } }

    /// Sets the time of day, and no more, wrong by so much.
    func setWall(wrongBySeconds seconds: Int64) { wallError.withLock { $0 = seconds } }

    var transportClock: TransportClock {
        TransportClock(
            now: { .now() + .seconds(self.added.withLock { $0 }) },
            wall: { Timestamp.now().advanced(bySeconds: self.added.withLock { $0 } + self.wallError.withLock { $0 }) },
            chance: { 0.5 }, tick: .milliseconds(10))
    }
}
