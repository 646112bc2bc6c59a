import Foundation
import Testing
import UserNotifications

private final class SilentDelegate: NSObject, UNUserNotificationCenterDelegate {}

private final class HandlerDelegate: NSObject, UNUserNotificationCenterDelegate {
    var answered: [String] = []

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        answered.append(response.actionIdentifier)
        completionHandler()
    }
}

private final class AsyncDelegate: NSObject, UNUserNotificationCenterDelegate {
    private let answered: @Sendable (String) -> Void

    init(_ answered: @escaping @Sendable (String) -> Void) { self.answered = answered }

    func userNotificationCenter(_ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async {
        answered(response.actionIdentifier)
    }
}

private final class ShowingDelegate: NSObject, UNUserNotificationCenterDelegate {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        completionHandler([.banner, .list, .sound, .badge])
    }
}

@Suite("A delegate") struct DelegateTests {
    private let center = UNUserNotificationCenter()

    private func notification() -> UNNotification {
        let request = UNNotificationRequest(
            identifier: "1", content: UNNotificationContent(), trigger: UNPushNotificationTrigger())
        return UNNotification(request: request, date: Date(timeIntervalSince1970: 1))
    }

    private func response() -> UNNotificationResponse {
        UNNotificationResponse(notification: notification(), actionIdentifier: UNNotificationDefaultActionIdentifier)
    }

    @Test("a delegate that implements nothing may be asked all the same") func silent() async {
        let delegate: any UNUserNotificationCenterDelegate = SilentDelegate()
        await delegate.userNotificationCenter(center, didReceive: response())
    }

    @Test("a delegate with completion handlers is reached through the async calls") func handlers() async {
        let delegate = HandlerDelegate()
        let system: any UNUserNotificationCenterDelegate = delegate
        await system.userNotificationCenter(center, didReceive: response())
        #expect(delegate.answered == [UNNotificationDefaultActionIdentifier])
    }

    @Test("a delegate says how a notification is shown while the app is open; one that says nothing shows none")
    func presentation() {
        var options: [UInt] = []
        let delegates: [any UNUserNotificationCenterDelegate] = [SilentDelegate(), ShowingDelegate()]
        for delegate in delegates {
            delegate.userNotificationCenter(center, willPresent: notification()) { options.append($0.rawValue) }
        }
        // Apple's numbers: badge 1, sound 2, list 8, banner 16.
        #expect(options == [0, 27])
    }

    @Test("a delegate that is async answers itself") func async() async {
        await confirmation { answered in
            let delegate: any UNUserNotificationCenterDelegate = AsyncDelegate { _ in answered() }
            await delegate.userNotificationCenter(center, didReceive: response())
        }
    }

    @Test("a delegate is held weakly by its center") func weakness() {
        var delegate: SilentDelegate? = SilentDelegate()
        center.delegate = delegate
        #expect(center.delegate === delegate)
        delegate = nil
        #expect(center.delegate == nil)
    }
}
