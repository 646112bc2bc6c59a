import Foundation
import PushCore
import PushOutbox
import SealedPush

/// Time that goes on only when it is told to, or when somebody sleeps.
final class FakeClock: Sendable {
    private let milliseconds: Locked<Int64>

    /// Begins now: a sealer writes the real time into each message, and a device looks at it.
    init() { milliseconds = Locked(Timestamp.now().secondsSince1970 * 1_000) }

    var now: Int64 { milliseconds.withLock { $0 } }

    func advance(by duration: Duration) {
        let difference = duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
        milliseconds.withLock { $0 += difference }
    }

    var clock: OutboxClock {
        OutboxClock(
            now: { self.now },
            sleep: { duration in
                await Task.yield()
                if !Task.isCancelled { self.advance(by: duration) }
            })
    }
}
