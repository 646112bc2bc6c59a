internal import Foundation
internal import SealedPush

/// Keeps messages quiet that the app's ``MuteRules`` mute.
///
/// A message of a muted thread, person, or server isn't shown, if the app has Apple's filtering entitlement
/// (``ServiceConfiguration/hasFilteringEntitlement``); otherwise, it's shown silently. During quiet hours, messages are shown
/// silently, so that nothing is missed. A critical message is never muted.
///
/// If the rules can't be read, nothing is muted, because a message that nobody notices is worse than a noise; the log says
/// `MuteStage unreadable`. List it after the stages that set the thread or the person.
public struct MuteStage: ServiceStage {
    private let muting: NotificationDraft.Muting
    /// Replaced in tests.
    var timeZone: @Sendable () -> TimeZone = { .current }

    /// Creates a stage.
    ///
    /// - Parameter muting: The effect on the messages of muted threads, people, and servers.
    public init(_ muting: NotificationDraft.Muting = .suppressed) { self.muting = muting }

    /// Quick, because the rules are at hand.
    public var pace: StagePace { .quick }

    /// Returns the draft, muted if a rule says so.
    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        guard let folder = context.ownFolder, let own = context.accountFolder else { throw RulesError.unreadable }
        let now = context.now()
        // Each account's server names its own threads and people. Hours and senders are the phone's.
        var rules = try MuteRules(in: own)
        if own != folder {
            let app = try MuteRules(in: folder)
            rules.hours += app.hours
            rules.senders.merge(app.senders) { _, app in app }
        }
        guard !draft.isCritical else { return draft }
        var draft = draft
        if rules.areQuiet(at: now, in: timeZone()) { draft.muting = max(draft.muting, .quiet) }
        if rules.mute(draft, at: now) { draft.muting = max(draft.muting, muting) }
        return draft
    }
}

extension NotificationDraft {
    /// Whether the message asks to be heard on a muted phone.
    fileprivate var isCritical: Bool {
        if case .critical? = self.sound { return true }
        return self.interruptionLevel == .critical
    }
}
