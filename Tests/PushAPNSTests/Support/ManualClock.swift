import NIOCore
import PushCore
import SealedPush

@testable import PushAPNS

/// A clock that goes when it is told to. The transport looks at it every few milliseconds.
final class ManualClock: Sendable {
    private let seconds = Locked(Double(0))
    private let wallOffset = Locked(Int64(0))
    private static let origin = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let start = Timestamp(clamping: 1_800_000_000)
    private let tick: TimeAmount

    /// - Parameter tick: how often the transport looks at the clock by itself.
    init(tick: TimeAmount = .milliseconds(5)) { self.tick = tick }

    /// In seconds.
    var elapsed: Double { seconds.withLock { $0 } }

    func advance(_ amount: Duration) { seconds.withLock { $0 += amount / .seconds(1) } }

    /// To a moment of the transport's; never back.
    func jump(to moment: NIODeadline) {
        let elapsed = Double((moment - Self.origin).nanoseconds) / 1e9
        seconds.withLock { $0 = max($0, elapsed) }
    }

    /// Sets the time of day alone.
    func setWall(bySeconds offset: Int64) { wallOffset.withLock { $0 = offset } }

    var transportClock: TransportClock {
        TransportClock(
            now: {
                Self.origin + .nanoseconds(Int64((self.seconds.withLock { $0 } * 1e9).rounded()))
            },
            wall: {
                self.start.advanced(bySeconds: Int64(self.seconds.withLock { $0 }) + self.wallOffset.withLock { $0 })
            },
            chance: { 0.5 }, tick: tick)
    }
}
