public import Foundation
public import SealedPush

/// What a stage has to work with, for one notification.
public struct StageContext: Sendable {
    /// What this stage has ready after this moment is not shown: the notification's own deadline, or an earlier one that
    /// the stage's ``StagePace`` sets.
    public private(set) var deadline: ContinuousClock.Instant
    /// The folder that app and extension share; nil where the system knows no such app group.
    public let container: URL?
    /// The service module's own folder in it. It may not exist yet.
    public let ownFolder: URL?
    /// The device's clock.
    public let now: @Sendable () -> Timestamp
    /// What brings files, and posts receipts.
    package let fetcher: any Fetching
    /// What it shares with the process's other notifications.
    package let budget: WorkBudget

    private let scratchFolder: ScratchFolder

    package init(
        deadline: ContinuousClock.Instant, container: URL?, ownFolder: URL?, scratch: ScratchFolder,
        fetcher: any Fetching = SessionFetching(), budget: WorkBudget = .shared,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.deadline = deadline
        self.container = container
        self.ownFolder = ownFolder
        scratchFolder = scratch
        self.fetcher = fetcher
        self.budget = budget
        self.now = now
    }

    /// The same for a part that has less time.
    func limited(to deadline: ContinuousClock.Instant) -> StageContext {
        var context = self
        context.deadline = min(self.deadline, deadline)
        return context
    }

    /// A new path in a folder of this notification's own, which is removed afterwards: for files that are not finished.
    ///
    /// What the draft's attachments point to is handed to the system, which moves it away.
    ///
    /// - Parameter name: the file's last part, such as `picture.png`. Anything but letters, digits, `.`, `-` and `_` is replaced.
    public func scratchFile(named name: String) throws -> URL { try scratchFolder.file(named: name) }

    /// How much time is left; never less than zero.
    public var timeLeft: Duration { max(.zero, deadline - ContinuousClock.now) }
}
