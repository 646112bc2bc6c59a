#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Where time comes from: the wall clock, since several processes and several days share the file.
package struct OutboxClock: Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package var now: @Sendable () -> Int64
    package var sleep: @Sendable (Duration) async -> Void

    package init(now: @escaping @Sendable () -> Int64, sleep: @escaping @Sendable (Duration) async -> Void) {
        self.now = now
        self.sleep = sleep
    }

    package static let system = OutboxClock(
        now: { Int64(Date().timeIntervalSince1970 * 1_000) },
        sleep: { try? await Task.sleep(for: $0) })
}

extension Duration {
    /// Cut to the millisecond.
    var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
