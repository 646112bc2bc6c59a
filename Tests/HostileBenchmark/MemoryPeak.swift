import Foundation
import PushCore

/// The most that this process has had in memory (resident) since it was last asked, looked at twenty times a second.
final class MemoryPeak: Sendable {
    private let peak = Locked(0)

    init() {
        let peak = peak
        Thread.detachNewThread {
            while true {
                let now = Self.resident()
                peak.withLock { $0 = max($0, now) }
                usleep(50_000)
            }
        }
    }

    /// In bytes.
    func take() -> Int {
        peak.withLock { peak in
            defer { peak = 0 }
            return peak
        }
    }

    private static func resident() -> Int {
        let words = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return words.count > 1 ? (Int(words[1]) ?? 0) * Int(getpagesize()) : 0
    }
}
