package import Dispatch
import Foundation
internal import PushCore
internal import SealedPush
public import UserNotifications

/// The principal class of an app's notification service extension: subclass it and say what is yours in
/// ``configuration``.
///
/// It opens each push, puts the content in place of the alert, and shows the safe default whenever that fails. iOS may
/// run several requests at once in one process and on one instance: all state is kept per request. Opening takes about
/// a millisecond, and a few more for the ledger's syncs; below 6 MB of memory of its own. The stages have 25 seconds
/// from the call; what is ready by then is shown.
///
/// Not promised: anything where iOS does not run the extension at all (alerts switched off, a push without
/// `mutable-content`), or where the process crashes: then iOS shows the text of the wire.
///
/// Source: Apple, "Modifying content in newly delivered notifications"; Specification 6.
open class SealedNotificationService: UNNotificationServiceExtension {
    /// What is the app's own; read once for each push. Must be overridden.
    open var configuration: ServiceConfiguration {
        preconditionFailure("override `configuration` in your subclass of SealedNotificationService")
    }

    /// The device; the simulator puts in its own.
    package var environment = DeviceEnvironment.system
    /// Open as long as something is tidied up, after the handler was called.
    package let tidying = DispatchGroup()
    private let outstanding = Locked<[ObjectIdentifier: ServiceRun]>([:])

    /// Starts opening and returns; the handler is called once, with the content or with the safe default.
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

    /// Shows for every request what there is, at once.
    open override func serviceExtensionTimeWillExpire() {
        for run in outstanding.withLock({ Array($0.values) }) { run.expire() }
    }
}
