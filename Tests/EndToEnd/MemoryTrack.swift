package import Foundation
internal import Glibc

/// The memory of a process, looked at now and then, beside how much of the work was done.
///
/// Of its own: resident and anonymous, without program text and mapped files, which the system takes back when it likes.
/// Source: proc_pid_status(5), `RssAnon`.
package struct MemoryTrack: Sendable {
    /// In the first tenth of the work, in bytes.
    package private(set) var earlyPeak = 0
    /// In what followed.
    package private(set) var latePeak = 0
    /// In the last fifth.
    package private(set) var finalPeak = 0
    /// The highest ever, mapped files included, as the system noted it, over all processes that were tracked: `VmHWM`.
    package private(set) var highWater = 0
    package private(set) var now = 0
    package private(set) var sampleCount = 0

    package init() {}

    /// By how much it has grown since the first tenth.
    package var growth: Int { max(0, latePeak - earlyPeak) }

    /// - Parameter progress: from 0 to 1.
    package mutating func sample(_ process: pid_t, progress: Double) {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return }
        func bytes(_ name: String) -> Int? {
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("\(name):") }) else { return nil }
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).compactMap { Int($0) }.first.map {
                $0 * 1_024
            }
        }
        // A process that has ended and waits to be collected has neither.
        guard let own = bytes("RssAnon"), let highest = bytes("VmHWM") else { return }
        add(own: own, highest: highest, progress: progress)
    }

    package mutating func add(own: Int, highest: Int, progress: Double) {
        sampleCount += 1
        now = own
        highWater = max(highWater, highest)
        if progress <= 0.1 { earlyPeak = max(earlyPeak, own) } else { latePeak = max(latePeak, own) }
        if progress > 0.8 { finalPeak = max(finalPeak, own) }
    }
}
