import Foundation
import Testing
import UserNotifications

@Suite("A notification center and its delegate") struct CenterTests {
    private let center = UNUserNotificationCenter()

    private func request(_ identifier: String) -> UNNotificationRequest {
        UNNotificationRequest(identifier: identifier, content: UNNotificationContent(), trigger: nil)
    }

    private var notification: UNNotification {
        UNNotification(request: request("1"), date: Date(timeIntervalSince1970: 1))
    }

    private var response: UNNotificationResponse {
        UNNotificationResponse(notification: notification, actionIdentifier: UNNotificationDefaultActionIdentifier)
    }

    @Test("the process has one center, even on the main actor")
    @MainActor
    func current() async throws {
        let center = UNUserNotificationCenter.current()
        #expect(center === UNUserNotificationCenter.current())
        #expect(try await center.requestAuthorization(options: [.alert, .badge, .sound]))
    }

    @Test("the center replaces a delivered notification with one that has the same identifier")
    func replacement() async throws {
        for identifier in ["a", "b", "a"] { try await center.add(request(identifier)) }
        #expect(await center.deliveredNotifications().map(\.request.identifier) == ["b", "a"])
        center.removeDeliveredNotifications(withIdentifiers: ["b"])
        #expect(await center.deliveredNotifications().map(\.request.identifier) == ["a"])
    }

    @Test("the center keeps the newest 1,000 notifications, and returns the removed ones") func limit() {
        for number in 0..<1_000 {
            #expect(center.deliver(UNNotification(request: request("\(number)"), date: .now)).isEmpty)
        }
        #expect(center.deliver(UNNotification(request: request("one more"), date: .now)) == ["0"])
        #expect(center.notifications.count == 1_000)
        #expect(!center.forget(["0"]) && center.forget(["1", "2"]) && center.notifications.count == 998)
    }

    @Test("the options have Apple's raw values") func rawValues() {
        #expect([UNAuthorizationOptions.badge, .sound, .alert].map(\.rawValue) == [1, 2, 4])
        #expect([UNNotificationPresentationOptions.badge, .sound, .list, .banner].map(\.rawValue) == [1, 2, 8, 16])
    }

    private class Delegate: NSObject, UNUserNotificationCenterDelegate {}

    private final class HandlerDelegate: NSObject, UNUserNotificationCenterDelegate {
        var answered: [String] = []

        func userNotificationCenter(
            _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
            withCompletionHandler completionHandler: @escaping () -> Void
        ) {
            answered.append(response.actionIdentifier)
            completionHandler()
        }

        func userNotificationCenter(
            _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
            withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
        ) {
            completionHandler(.banner)
        }
    }

    @Test("the async call reaches a delegate with completion handlers, and one that implements no method")
    func handlers() async {
        let delegate = HandlerDelegate()
        let system: [any UNUserNotificationCenterDelegate] = [delegate, Delegate()]
        for delegate in system { await delegate.userNotificationCenter(center, didReceive: response) }
        #expect(delegate.answered == [UNNotificationDefaultActionIdentifier])
    }

    @Test("a delegate chooses how to show a notification while the app is open; by default, it isn't shown")
    func presentation() {
        var options: [UNNotificationPresentationOptions] = []
        for delegate in [HandlerDelegate(), Delegate()] as [any UNUserNotificationCenterDelegate] {
            delegate.userNotificationCenter(center, willPresent: notification) { options.append($0) }
        }
        #expect(options == [.banner, []])
    }

    @Test("a center holds its delegate weakly") func weakness() {
        var delegate: Delegate? = Delegate()
        center.delegate = delegate
        #expect(center.delegate === delegate)
        delegate = nil
        #expect(center.delegate == nil)
    }
}
