/// The limits that iOS sets for an extension, and its reuse of the process.
package struct ExtensionRules: Sendable {
    /// The time limit, counted from the process's start for its first request, and from the call for later ones.
    ///
    /// Sources: Apple, `didReceive(_:withContentHandler:)`: no more than 30 seconds. Apple's forum, thread 807554: a
    /// process is killed because it "used its runtime in starting up". A process that is already running has no startup
    /// time to count.
    package var timeLimit: Duration
    /// The limit on the extension's own memory, anonymous and resident, in bytes.
    ///
    /// Apple doesn't document it. Crash reports of several apps mention 24 MB (nextcloud/talk-ios 1223); older devices
    /// had 12 (vector-im/element-ios 3868).
    package var memoryLimit: Int
    /// Whether the app has `com.apple.developer.usernotifications.filtering`, so that empty content shows nothing.
    package var hasFilteringEntitlement: Bool
    /// Whether iOS kills each process while it starts, before `didReceive`, as it does when memory is low.
    package var killsAtStart: Bool

    /// How long an idle process is kept. iOS's actual time isn't known, and it varies.
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

    /// The time between telling an extension that its time is up and killing it. iOS's actual time isn't known.
    package static let grace = Duration.seconds(1)
    /// How long a process has to clean up after its answer.
    static let tidyTime = Duration.milliseconds(500)
}
