public import Foundation
internal import PushCore
public import SealedPush

/// The resources that a stage has for one notification.
public struct StageContext: Sendable {
    /// The time after which this stage's work isn't shown: the notification's, or an earlier one set by its ``StagePace``.
    public private(set) var deadline: ContinuousClock.Instant
    /// The folder that the app and its extension share; nil if the system doesn't know the app group.
    public var container: URL? { environment.root(sharedContainer) }
    /// The service module's folder in the container, which may not exist yet.
    public var ownFolder: URL? { environment.folder(sharedContainer.whole) }
    /// The folder of the message's account in that folder; the folder itself for the app's own account.
    package var accountFolder: URL? { environment.folder(sharedContainer) }
    /// The device's clock.
    public var now: @Sendable () -> Timestamp { environment.now }
    package var fetcher: any Fetching { environment.fetcher }
    package var budget: WorkBudget { environment.budget }

    /// The account with a name to which the message belongs; nil for the app's own, or if it isn't known.
    public private(set) var account: PushAccount?

    private var sharedContainer: SharedContainer
    let environment: DeviceEnvironment
    private let scratchFolder: ScratchFolder
    let start = ContinuousClock.now
    private let hasReceipt = Locked(false)

    package init(
        deadline: ContinuousClock.Instant, container: SharedContainer, environment: DeviceEnvironment,
        scratch: ScratchFolder
    ) {
        self.deadline = deadline
        sharedContainer = container
        self.environment = environment
        scratchFolder = scratch
    }

    /// Returns true only once, because a notification has one receipt.
    func takesReceipt() -> Bool {
        hasReceipt.withLock { hasReceipt in
            defer { hasReceipt = true }
            return !hasReceipt
        }
    }

    /// Returns the context for an account's message.
    func of(_ owner: Owner?) -> StageContext {
        guard let owner else { return self }
        var context = self
        (context.account, context.sharedContainer) = (owner.configuration.account, owner.configuration.container)
        return context
    }

    func limited(to deadline: ContinuousClock.Instant) -> StageContext {
        var context = self
        context.deadline = min(self.deadline, deadline)
        return context
    }

    /// Returns a new path for an unfinished file, in this notification's own folder, which is removed afterward. The system
    /// moves away the files of the draft's attachments.
    ///
    /// - Parameter name: The end of the filename, such as `picture.png`. All but letters, digits, `.`, and `-` become `_`.
    public func scratchFile(named name: String) throws -> URL { try scratchFolder.file(named: name) }

    /// The time that is left; never less than zero.
    public var timeLeft: Duration { max(.zero, deadline - ContinuousClock.now) }
}
