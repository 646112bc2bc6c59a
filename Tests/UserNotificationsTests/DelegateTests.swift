import Foundation
import Testing
import UserNotifications

private final class SilentDelegate: NSObject, UNUserNotificationCenterDelegate {}

private final class HandlerDelegate: NSObject, UNUserNotificationCenterDelegate {
    var answered: [String] = []

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        completionHandler([.banner, .list])
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        answered.append((response as? UNTextInputNotificationResponse)?.userText ?? response.actionIdentifier)
        completionHandler()
    }
}

private final class AsyncDelegate: NSObject, UNUserNotificationCenterDelegate {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions {
        [.sound]
    }
}

/// The usual delegate of an app: on the main actor, with calls that may come from anywhere.
@MainActor
private final class AppDelegate: NSObject, UNUserNotificationCenterDelegate {
    var opened = 0

    nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {
        await MainActor.run { opened += 1 }
    }
}

@Suite("A delegate")
struct DelegateTests {
    private let center = UNUserNotificationCenter()

    private func notification() -> UNNotification {
        let request = UNNotificationRequest(
            identifier: "1", content: UNNotificationContent(), trigger: UNPushNotificationTrigger())
        return UNNotification(request: request, date: Date(timeIntervalSince1970: 1))
    }

    private func response() -> UNNotificationResponse {
        UNNotificationResponse(
            notification: notification(), actionIdentifier: UNNotificationDefaultActionIdentifier)
    }

    @Test("that implements nothing shows nothing")
    func silent() async {
        let delegate: any UNUserNotificationCenterDelegate = SilentDelegate()
        #expect(await delegate.userNotificationCenter(center, willPresent: notification()) == [])
        await delegate.userNotificationCenter(center, didReceive: response())
        delegate.userNotificationCenter(center, openSettingsFor: nil)
    }

    @Test("with completion handlers is reached through the async calls")
    func handlers() async {
        let delegate = HandlerDelegate()
        let system: any UNUserNotificationCenterDelegate = delegate
        #expect(await system.userNotificationCenter(center, willPresent: notification()) == [.banner, .list])
        await system.userNotificationCenter(center, didReceive: response())
        let text = UNTextInputNotificationResponse(
            notification: notification(), actionIdentifier: "reply", userText: "Yes")
        await system.userNotificationCenter(center, didReceive: text)
        #expect(delegate.answered == [UNNotificationDefaultActionIdentifier, "Yes"])
        #expect(text != response())
    }

    @Test("that is async answers itself")
    func async() async {
        let delegate: any UNUserNotificationCenterDelegate = AsyncDelegate()
        #expect(await delegate.userNotificationCenter(center, willPresent: notification()) == [.sound])
    }

    @Test("on the main actor is reached from elsewhere")
    func mainActor() async {
        let delegate = await AppDelegate()
        let system: any UNUserNotificationCenterDelegate = delegate
        await system.userNotificationCenter(center, didReceive: response())
        #expect(await delegate.opened == 1)
    }

    @Test("is held weakly by its center")
    func weakness() {
        var delegate: SilentDelegate? = SilentDelegate()
        center.delegate = delegate
        #expect(center.delegate === delegate)
        delegate = nil
        #expect(center.delegate == nil)
    }
}
