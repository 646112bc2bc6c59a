internal import Foundation
internal import SealedPush

#if canImport(os)
internal import os
#endif

/// Apple's unified log, for Console and Instruments: a line for each line of ``ServiceLog``, even if that log can't be
/// written, and an interval for each step. Contains only codes and public key IDs. Other systems get only the configuration's
/// mistakes.
enum SystemLog {
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
    static func beginOpening() -> () -> Void { {} }
    static func beginStage() -> () -> Void { {} }
    #endif
}
