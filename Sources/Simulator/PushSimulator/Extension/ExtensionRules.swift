package import Foundation

/// What iOS gives an extension: time, memory, and a process that may be used again.
package struct ExtensionRules: Sendable {
    /// From the process's start for its first request, from the call for later ones.
    ///
    /// Sources: Apple, `didReceive(_:withContentHandler:)`: no more than 30 seconds. Apple's forum, thread 807554: a
    /// process is killed because it "used its runtime in starting up". For a process that runs already there is no
    /// start to count.
    package var timeLimit: Duration
    /// Of the extension's own memory, in bytes: anonymous and resident.
    ///
    /// Apple does not print it. Crash reports of several apps name 24 MB (nextcloud/talk-ios 1223), older devices had
    /// 12 (vector-im/element-ios 3868).
    package var memoryLimit: Int
    /// Whether the app has `com.apple.developer.usernotifications.filtering`: then an empty content shows nothing.
    package var hasFilteringEntitlement: Bool
    /// Whether iOS ends each process while it starts, before `didReceive`, as it does where memory is short.
    package var killsAtStart: Bool

    /// How long a process without work is kept. What iOS does is not known, and differs.
    package var idleTime = Duration.seconds(10)

    package init(
        timeLimit: Duration = .seconds(30), memoryLimit: Int = 24 << 20, hasFilteringEntitlement: Bool = false,
        killsAtStart: Bool = false
    ) {
        self.timeLimit = timeLimit
        self.memoryLimit = memoryLimit
        self.hasFilteringEntitlement = hasFilteringEntitlement
        self.killsAtStart = killsAtStart
    }

    /// How long an extension has, after it was told that its time is up, before it is killed. What iOS gives is not
    /// known.
    package static let grace = Duration.seconds(1)
    /// How long a process is waited for that is tidying up after its answer.
    static let tidyTime = Duration.milliseconds(500)
}

/// A program that calls ``ExtensionHost``.
package struct ExtensionProgram: Sendable {
    package let file: URL
    package let arguments: [String]

    package init(_ file: URL, arguments: [String] = []) {
        self.file = file
        self.arguments = arguments
    }

    /// Where the app's bundle would be.
    var bundle: URL { file.deletingLastPathComponent() }
}

struct ExtensionResult: Sendable {
    var ending: Ending
    /// Until the answer, or until there would be none.
    var elapsed: Duration
    /// The process's own memory at its highest during this request, in bytes; nil where it is not its own process.
    var peakMemoryByteCount: Int?
    var remarks: [String] = []

    enum Ending: Equatable, Sendable {
        case returned(ShownNotification)
        case expanded(ShownExpansion)
        /// The process ended, by itself or by a signal, before the handler was called: how, in words.
        case ended(String)
        /// The handler was not called in time; the process was killed.
        case timedOut
        /// The process used too much memory, and was killed.
        case overMemory
        /// The system killed the process for something else: in words.
        case killed(String)
    }
}
