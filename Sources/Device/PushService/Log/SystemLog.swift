internal import Foundation
internal import PushCore
internal import SealedPush

#if canImport(os)
internal import os
#endif

/// Apple's unified log, for Console and Instruments: a line for each line of ``ServiceLog``, even if that log can't be
/// written, and an interval for each step. Contains only codes and public key IDs. Other systems get only the configuration's
/// mistakes, and an observer can measure the steps.
package enum SystemLog {
    #if canImport(os)
    private static let logger = Logger(subsystem: "sealed-push", category: "service")
    private static let signposter = OSSignposter(logger: logger)

    static func write(_ entry: ServiceLog.Entry) {
        logger.notice("\(entry.description, privacy: .public)")
    }

    /// Writes about a mistake in the configuration.
    static func write(mistake text: String) { logger.notice("\(text, privacy: .public)") }

    // Apple requires literal names. Each function begins an interval and returns a closure that ends it.
    static func beginOpening() -> () -> Void {
        let state = signposter.beginInterval("open", id: signposter.makeSignpostID())
        return { signposter.endInterval("open", state) }
    }

    static func beginReadingKeys() -> () -> Void {
        let state = signposter.beginInterval("keys", id: signposter.makeSignpostID())
        return { signposter.endInterval("keys", state) }
    }

    static func beginRecording() -> () -> Void {
        let state = signposter.beginInterval("ledger", id: signposter.makeSignpostID())
        return { signposter.endInterval("ledger", state) }
    }

    static func beginStage() -> () -> Void {
        let state = signposter.beginInterval("stage", id: signposter.makeSignpostID())
        return { signposter.endInterval("stage", state) }
    }
    #else
    static func write(_ entry: ServiceLog.Entry) {}
    static func write(mistake text: String) {
        // Standard output may be reserved for reports.
        try? FileHandle.standardError.write(contentsOf: Data("sealed-push: \(text)\n".utf8))
    }

    /// Called when a step begins; returns a closure that is called when the step ends.
    package typealias Observer = @Sendable (Step) -> @Sendable () -> Void

    package enum Step: Sendable { case opening, readingKeys, recording, stage }

    private static let observer = Locked<Observer?>(nil)

    /// Measures the steps of this process, for a benchmark.
    package static func observe(_ observe: @escaping Observer) { observer.withLock { $0 = observe } }

    static func beginOpening() -> () -> Void { begin(.opening) }
    static func beginReadingKeys() -> () -> Void { begin(.readingKeys) }
    static func beginRecording() -> () -> Void { begin(.recording) }
    static func beginStage() -> () -> Void { begin(.stage) }

    private static func begin(_ step: Step) -> () -> Void { observer.withLock { $0 }?(step) ?? {} }
    #endif
}
