internal import PushCore

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The source of time. Stored times are by the wall clock, since an outbox is shared by processes and lasts for days. Someone
/// may set that clock at any time, so a process measures its own waits by the uptime.
package struct OutboxClock: Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package var now: @Sendable () -> Int64
    /// Milliseconds for which the machine has been running or suspended. Never set.
    package var uptime: @Sendable () -> Int64
    /// Identifies the start of the machine that the uptime is counted from; nil if unknown.
    package var boot: String?
    package var sleep: @Sendable (Duration) async -> Void

    /// Creates a clock. Without an uptime, its wall clock is never set.
    package init(
        now: @escaping @Sendable () -> Int64, uptime: (@Sendable () -> Int64)? = nil, boot: String? = nil,
        sleep: @escaping @Sendable (Duration) async -> Void
    ) {
        self.now = now
        self.uptime = uptime ?? now
        self.boot = boot
        self.sleep = sleep
    }

    /// The wall clock and the wall clock minus the uptime, which changes only if the wall clock is set.
    func reading() -> (now: Int64, offset: Int64) {
        while true {
            // Not of two moments between which the machine was suspended.
            let (start, now, end) = (uptime(), now(), uptime())
            if (0..<100).contains(end - start) { return (now, now - end) }
        }
    }

    package static let system = OutboxClock(
        now: { Int64(Date().timeIntervalSince1970 * 1_000) }, uptime: systemUptime, boot: systemBoot,
        sleep: { try? await Task.sleep(for: $0) })

    private static func systemUptime() -> Int64 {
        var time = timespec()
        #if canImport(Darwin)
        // Continues while the system sleeps, as CLOCK_BOOTTIME does on Linux.
        clock_gettime(CLOCK_MONOTONIC, &time)
        #else
        clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Linux's name for it.
    private static let systemBoot = (try? Data(contentsOf: URL(filePath: "/proc/sys/kernel/random/boot_id")))
        .map { String(decoding: $0, as: UTF8.self) }
}
