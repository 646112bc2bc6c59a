package import Dispatch
import Foundation
internal import PushCore
internal import SealedPush
public import UserNotifications

/// The principal class of an app's notification service extension. Subclass it and override ``configuration``.
///
/// It opens each push, replaces the alert with the content, and shows the safe default if anything fails. iOS may run
/// several requests at once in one process and on one instance, so all state is kept per request. Opening takes about a
/// millisecond, plus a few for the ledger's syncs, and less than 6 MB of memory. The stages have 25 seconds from the call;
/// what is ready by then is shown.
///
/// iOS shows the text on the wire if it doesn't run the extension (alerts are turned off, or the push lacks
/// `mutable-content`) or if the process crashes.
/// Source: Apple, "Modifying content in newly delivered notifications"; Specification 6.
open class SealedNotificationService: UNNotificationServiceExtension {
    /// The app's own configuration, read once for each push. Must be overridden.
    open var configuration: ServiceConfiguration {
        preconditionFailure("override `configuration` in your subclass of SealedNotificationService")
    }

    /// The device; replaced by the simulator.
    package var environment = DeviceEnvironment.system
    /// Each request leaves this group once its cleanup, after the handler call, is done.
    package let tidying = DispatchGroup()
    private let outstanding = Locked<[ObjectIdentifier: ServiceRun]>([:])

    /// Starts opening and returns. The handler is called once, with the content or with the safe default.
    open override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        tidying.enter()
        let start = ContinuousClock.now
        let configuration = configuration
        let opening = PushOpening(configuration, environment: environment)
        let run = ServiceRun(request, configuration, environment, opening, at: start, handler: contentHandler) {
            [outstanding, tidying] run in
            outstanding.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(run)) }
            tidying.leave()
        }
        outstanding.withLock { $0[ObjectIdentifier(run)] = run }
        StageExecutor.queue().async { run.run() }
    }

    /// Immediately shows the best content so far for every request.
    open override func serviceExtensionTimeWillExpire() {
        for run in outstanding.withLock({ Array($0.values) }) { run.expire() }
    }
}
