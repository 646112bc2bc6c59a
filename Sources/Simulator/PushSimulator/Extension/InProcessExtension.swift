internal import Dispatch
internal import Foundation
internal import PushCore
internal import PushService
internal import UserNotifications

/// The extension of one simulated device, run in this very process: the service module's own opening, ledger included,
/// without a process for each notification. For tests with many devices; no memory limit, and a crash would be everyone's.
package final class InProcessExtension: @unchecked Sendable {
    // An extension class is not Sendable, and iOS calls it from any thread all the same: so does this.
    private let service: SealedNotificationService
    private let attachments: AttachmentStore

    /// Nil where the configuration is not usable.
    package init?(_ standard: StandardConfiguration, on device: SimulatedDevice) {
        guard let configuration = standard.configuration(container: device.container) else { return nil }
        service = StandardService(configuration)
        attachments = AttachmentStore(container: device.container, temporary: .temporaryDirectory, bundle: nil)
        service.environment = device.environment()
    }

    /// Does with a notification what iOS does, and waits until the handler was called.
    ///
    /// - Parameter identifier: of the request; a notification with the same one is replaced.
    package func deliver(
        _ push: PushFile, identifier: String, pushType: String, timeLimit: Duration = .seconds(30)
    ) -> DeliveredPush {
        if let unchanged = push.shownUnchanged(pushType: pushType) { return unchanged }
        let original = WireNotification(push.payload).content
        let request = UNNotificationRequest(
            identifier: identifier, content: original, trigger: UNPushNotificationTrigger())
        let answer = Locked<ShownNotification?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        let start = ContinuousClock.now
        service.didReceive(request) { content in
            let shown = ShownNotification(content)
            answer.withLock { if $0 == nil { $0 = shown } }
            isDone.signal()
        }
        if isDone.wait(timeout: .now() + timeLimit / .seconds(1)) == .timedOut {
            service.serviceExtensionTimeWillExpire()
            _ = isDone.wait(timeout: .now() + .seconds(1))
        }
        guard let shown = answer.withLock({ $0 }), shown.hasText else {
            return DeliveredPush(
                outcome: .original, shown: ShownNotification(original), note: "the extension did not finish in time")
        }
        var delivered = DeliveredPush(showing: shown, attachments: attachments, identifier: identifier)
        delivered.elapsed = ContinuousClock.now - start
        return delivered
    }
}
