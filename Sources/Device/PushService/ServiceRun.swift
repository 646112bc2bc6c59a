import Dispatch
import Foundation
internal import PushCore
import SealedPush
internal import UserNotifications

/// One request to the extension, from its arrival to its end: opened, improved by the stages, shown once, and cleaned up.
///
/// iOS gives an extension about 30 seconds for a push. If it's late, or its process ends, iOS shows the payload's own alert,
/// and the message is lost to the person. A run's purpose is that this doesn't happen: the handler is called exactly once,
/// with the best content that there is at that moment.
///
/// The life of a run:
/// 1. `init` stores a first presentation, the safe default, before anything can fail.
/// 2. ``run()`` opens the envelope on the system's own thread. After that, the text is safe: whatever happens next, the
///    message is shown, with what the stages have added by then. A push that needs no more work ends here.
/// 3. The stages run in the background, and ``NotificationHandover`` merges what each returns. Meanwhile, the system is asked
///    not to suspend the process.
/// 4. `complete()` does the last work with files: the person's picture, and the number on the icon.
/// 5. `finish()` calls the handler, cancels the work that is left, and removes the scratch files that aren't shown.
/// 6. `afterwards` marks the key that opened the message, purges the ledger now and then, and lets each stage post a receipt,
///    say. Then `onEnd` releases the run.
///
/// Three events race for step 5: the end of the stages, a timer after 25 seconds, and the system's own expiry. They come on
/// different threads, and the lock of the handover lets only the first through. The others find nothing left to show.
///
/// A run relies on no stage. One that throws, hangs, blocks its thread, or ignores its cancellation loses only its own part.
/// Nobody can end such a thread, though: it stays until its work returns or the process ends.
///
/// A withdrawal and a plain push go the same way without stages. The run of a push that didn't open shows the safe default,
/// and still lets the stages count the reason.
///
/// A run is used once. The service retains it until `onEnd`. All of its functions may be called from any thread.
final class ServiceRun: Sendable {
    private let handover: NotificationHandover
    private let markers: RunMarkers?
    private let expiryMarks: ExpiryMarks?
    private let seal: NotificationSeal
    /// Whether a push that didn't open is counted for a receipt; false if it was counted before.
    private let countsFailures: Bool
    /// Signaled once all the work that the system was asked to wait for is done.
    private let isOver = DispatchSemaphore(value: 0)
    private let opening: PushOpening
    private let stages: [any ServiceStage]
    private let scratch: ScratchFolder
    private let context: StageContext
    private let start: ContinuousClock.Instant
    private let field: String?
    private let identifier: String
    private let work = Locked(Work())
    private let onEnd: @Sendable (ServiceRun) -> Void

    private struct Work {
        var stop: (@Sendable () -> Void)?
        var isOver = false
        var afterwards: Task<Void, Never>?
        var isExpired = false
        /// Removed once the notification is shown.
        var marker: URL?
    }

    /// `start` is the time of the system's call. `onEnd` is called after the handler, once no work is left.
    init(
        _ request: UNNotificationRequest, _ configuration: ServiceConfiguration, _ environment: DeviceEnvironment,
        _ opening: PushOpening, at start: ContinuousClock.Instant, countsFailures: Bool = true,
        handler: @escaping (UNNotificationContent) -> Void, onEnd: @escaping @Sendable (ServiceRun) -> Void
    ) {
        self.start = start
        self.countsFailures = countsFailures
        self.opening = opening
        let folder = environment.folder(configuration.container.whole)
        seal = NotificationSeal(in: folder)
        field = request.content.userInfo[Envelope.fieldName] as? String
        identifier = request.identifier
        handover = NotificationHandover(
            request, best: opening.presentOutOfTime(), generic: configuration.safeDefault, seal: seal, handler: handler)
        markers = folder.map(RunMarkers.init(in:))
        expiryMarks = folder.map(ExpiryMarks.init(in:))
        stages = configuration.stages
        scratch = ScratchFolder(in: environment.scratchRoot)
        context = StageContext(
            deadline: start + Self.timeBudget, container: configuration.container, environment: environment,
            scratch: scratch)
        self.onEnd = onEnd
    }

    /// Opens the envelope on the calling thread; the stages continue after it returns.
    func run() {
        mark()
        let presentation = opening.present(
            field: field, requestIdentifier: identifier, writeTime: context.timeLeft - LedgerLimits.timeAfterwards)
        guard handover.keep(presentation) else { return complete() }
        seal.prepare()
        var improve: (@Sendable () async -> Void)?
        switch presentation {
        case .opened(let draft) where !stages.isEmpty:
            holdProcess()
            scratch.sweep()
            let run = StageRun(
                stages: stages, context: context.of(draft.owner), handover: handover, opening: opening, scratch: scratch
            )
            improve = { await run.run() }
        case .withdrawal(let opened, let isRepeat, let owner):
            improve = { [context, seal, opening] in
                await opened.withdraw(
                    from: context.environment.notifications, of: owner, owner.badge(on: context.environment), seal,
                    isRepeat: isRepeat, trusting: opening.trustedSenders(of: owner),
                    reading: { opening.content(ofShown: $0, of: owner) })
            }
        default: break
        }
        if let removal = removalOfExpired() {
            improve = { [improve] in
                async let removed: Void = removal()
                await improve?()
                await removed
            }
        }
        guard let improve else { return complete() }
        // A dispatch source may be used from any thread, but isn't marked Sendable.
        nonisolated(unsafe) let timer = StageExecutor.timer(after: context.timeLeft) { [self] in finish() }
        let task = StageExecutor.start { [self] in
            await improve()
            complete()
        }
        let isOver = work.withLock { work in
            work.stop = {
                timer.cancel()
                task.cancel()
            }
            return work.isOver
        }
        if isOver { stop() }
    }

    private func mark() {
        guard let markers, let marker = markers.begin(at: context.environment.now()) else { return }
        let isOver = work.withLock { work in
            work.marker = marker
            return work.isOver
        }
        if isOver { markers.end(marker) }
    }

    /// Returns the work of removing notifications that have expired, or nil if there are none.
    private func removalOfExpired() -> (@Sendable () async -> Void)? {
        let now = context.now()
        guard let expiryMarks, expiryMarks.areDue(at: now) else { return nil }
        return { [context, seal] in
            _ = await context.environment.notifications.removeExpired(at: now, seal)
            expiryMarks.drop(at: now)
        }
    }

    /// Does the remaining work, which reads and writes files. If time runs out meanwhile, the text is shown without it.
    private func complete() {
        if var draft = handover.draft {
            guard !opening.isGone(draft.owner) else {
                handover.keep(opening.presentGone())
                finish()
                return
            }
            draft = draft.withPictures(NotificationDraft.readPicture)
            let badge = draft.owner?.badge(on: context.environment)
            if let badge, !draft.isSuppressed, !badge.count(&draft) { opening.logBadgeFailure() }
            handover.keep(.opened(draft))
        }
        finish()
    }

    /// Asks the system to let the process run until ``isOver`` is signaled.
    private func holdProcess() {
        let hasBegun = Locked(false)
        context.environment.activity { [self] isExpired in
            guard isExpired else {
                hasBegun.withLock { $0 = true }
                return isOver.wait()
            }
            // The system may also refuse right away, which changes nothing.
            guard hasBegun.withLock({ $0 }) else { return }
            let afterwards = work.withLock { work in
                work.isExpired = true
                return work.afterwards
            }
            afterwards?.cancel()
            isOver.signal()
        }
    }

    func expire() {
        guard let shown = finish() else { return }
        if shown.reason == .outOfTime { opening.logOutOfTime() }
    }

    /// Shows the best content so far, unless that has already happened; then stops the remaining work and cleans up.
    @discardableResult private func finish() -> Presentation? {
        guard let shown = handover.finish() else { return nil }
        let elapsed = ContinuousClock.now - start
        let marker = work.withLock { work in
            work.isOver = true
            return work.marker.take()
        }
        if let marker { markers?.end(marker) }
        stop()
        var files: [URL] = []
        if case .opened(let draft) = shown { files = draft.shownAttachments.map(\.file) }
        scratch.close(keeping: files)
        afterwards(shown, elapsed: elapsed)
        return shown
    }

    private func stop() { work.withLock { $0.stop.take() }?() }

    private func afterwards(_ shown: Presentation, elapsed: Duration) {
        guard !opening.isGone(shown.owner) else {
            // The account was removed meanwhile, and the app may have looked for its notifications before this one was there.
            context.environment.notifications.removeDeliveredNotifications(withIdentifiers: [identifier])
            isOver.signal()
            return onEnd(self)
        }
        let result: StageResult
        switch shown {
        case .plain: return onEnd(self)
        case .withdrawal:
            opening.tidy(after: shown)
            return onEnd(self)
        case .opened(let draft):
            result = .opened(draft, elapsed: elapsed)
            if let expires = draft.opened.content.expires, !draft.isSuppressed {
                expiryMarks?.add(expires, at: context.now())
            }
        case .safeDefault(_, let reason, _, _):
            guard countsFailures else { return onEnd(self) }
            result = .safeDefault(reason)
        }
        opening.tidy(after: shown)
        guard !stages.isEmpty else { return onEnd(self) }
        let context = context.of(shown.owner)
        let task = StageExecutor.start { [self] in
            await withTaskGroup(of: Void.self) { group in
                for stage in stages { group.addTask { await stage.finished(result, in: context) } }
            }
            isOver.signal()
            onEnd(self)
        }
        let isExpired = work.withLock { work in
            work.afterwards = task
            return work.isExpired
        }
        if isExpired { task.cancel() }
    }

    /// Counted from the extension's call; the process may have started a few seconds earlier. iOS allows 30 s for both.
    static let timeBudget = Duration.seconds(25)
}
