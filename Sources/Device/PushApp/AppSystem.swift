package import Foundation
import PushService

#if canImport(Intents)
import Intents
#endif

#if os(iOS) || os(visionOS)
import BackgroundTasks
import PushCore
import UIKit
#elseif os(macOS)
import AppKit
#endif

/// The calls to the system that ``SealedPushes`` makes, besides the notification center's. Empty on systems without apps, and
/// replaced in tests.
@MainActor package struct AppSystem {
    /// Asks for a token. The app's delegate gets the response, which may never arrive.
    package var register: @MainActor () -> Void = {}
    /// Tells the system that no more pushes are wanted.
    package var unregister: @MainActor () -> Void = {}
    /// Has the system report activations and unlocks, and run a background task by its identifier.
    package var begin: @MainActor (_ refreshTask: String, SealedPushes) -> Void = { _, _ in }
    /// Asks the system to run the background task in a day.
    package var planRefresh: @MainActor (_ refreshTask: String) -> Void = { _ in }
    /// Asks the system to run the background task at a time, or in a day if that's earlier.
    package var planRemoval: @MainActor (_ refreshTask: String, _ time: Date) -> Void = { _, _ in }
    /// Removes the people in messages from the system's suggestions.
    package var forgetPeople: @MainActor () async -> Void = {}

    package init() {}

    /// The system that the app runs on.
    static var current: AppSystem {
        var system = AppSystem()
        #if os(iOS) || os(visionOS)
        system.register = { UIApplication.shared.registerForRemoteNotifications() }
        system.unregister = { UIApplication.shared.unregisterForRemoteNotifications() }
        system.begin = { refreshTask, pushes in
            observe(UIApplication.didBecomeActiveNotification) { [weak pushes] in await pushes?.becameActive() }
            observe(UIApplication.protectedDataDidBecomeAvailableNotification) { [weak pushes] in
                await pushes?.openWhatWasLocked()
            }
            handle(refreshTask, by: pushes)
        }
        system.planRefresh = { refreshTask in plan(refreshTask, at: Date(timeIntervalSinceNow: 86_400)) }
        system.planRemoval = { refreshTask, time in
            // This takes the place of the daily request, which the refresh makes again.
            plan(refreshTask, at: min(time, Date(timeIntervalSinceNow: 86_400)))
        }
        #elseif os(macOS)
        system.register = { NSApplication.shared.registerForRemoteNotifications() }
        system.unregister = { NSApplication.shared.unregisterForRemoteNotifications() }
        system.begin = { _, pushes in
            observe(NSApplication.didBecomeActiveNotification) { [weak pushes] in await pushes?.becameActive() }
        }
        #endif
        system.forgetPeople = forgettingPeople(of: nil)
        return system
    }

    /// Returns the removal of people in an account's messages from the system's suggestions; nil is the app's own account.
    static func forgettingPeople(of account: AccountID?) -> @MainActor () async -> Void {
        #if canImport(Intents)
        return { try? await INInteraction.delete(with: ServiceConfiguration.interactionGroup(of: account)) }
        #else
        return {}
        #endif
    }

    #if os(iOS) || os(visionOS) || os(macOS)
    private static func observe(_ name: Notification.Name, _ action: @escaping @MainActor @Sendable () async -> Void) {
        NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in
            Task { await action() }
        }
    }
    #endif

    #if os(iOS) || os(visionOS)
    private static func plan(_ refreshTask: String, at time: Date) {
        let request = BGAppRefreshTaskRequest(identifier: refreshTask)
        request.earliestBeginDate = time
        // Fails if background refresh is turned off; the app then works only at launch.
        try? BGTaskScheduler.shared.submit(request)
    }

    /// Not on the main actor, because the system calls the handlers on another queue.
    nonisolated private static func handle(_ refreshTask: String, by pushes: SealedPushes) {
        // Returns false if `Info.plist` doesn't list the task; the app then registers only at launch.
        BGTaskScheduler.shared.register(forTaskWithIdentifier: refreshTask, using: nil) { [weak pushes] task in
            // Only passed on. Apple documents no limit on the thread of these two calls.
            nonisolated(unsafe) let task = task
            let isDone = Locked(false)
            let finish: @Sendable (Bool) -> Void = { isSuccess in
                let wasDone = isDone.withLock { isDone in
                    defer { isDone = true }
                    return isDone
                }
                if !wasDone { task.setTaskCompleted(success: isSuccess) }
            }
            // The next call does the rest. A process that uses up its half minute gets less of them.
            task.expirationHandler = { finish(false) }
            Task {
                try? await Task.sleep(for: .seconds(20))
                finish(false)
            }
            Task {
                await pushes?.refresh()
                finish(true)
            }
        }
    }
    #endif
}
