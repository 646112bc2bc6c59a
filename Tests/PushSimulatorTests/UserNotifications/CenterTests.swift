import Foundation
import Testing
import UserNotifications

@Suite("A notification center") struct CenterTests {
    private let center = UNUserNotificationCenter()

    private func request(_ identifier: String) -> UNNotificationRequest {
        UNNotificationRequest(identifier: identifier, content: UNNotificationContent(), trigger: nil)
    }

    @Test("the center of the process is one and the same, also on the main actor")
    @MainActor
    func current() async throws {
        let center = UNUserNotificationCenter.current()
        #expect(center === UNUserNotificationCenter.current())
        #expect(try await center.requestAuthorization(options: [.alert, .badge, .sound]))
    }

    @Test("the center replaces a delivered notification by one with the same identifier")
    func replacement() async throws {
        for identifier in ["a", "b", "a"] { try await center.add(request(identifier)) }
        #expect(await center.deliveredNotifications().map(\.request.identifier) == ["b", "a"])
        center.removeDeliveredNotifications(withIdentifiers: ["b"])
        #expect(await center.deliveredNotifications().map(\.request.identifier) == ["a"])
    }

    @Test("the center has Apple's raw values in its options") func rawValues() {
        let options: [UNAuthorizationOptions] = [.badge, .sound, .alert]
        #expect(options.map(\.rawValue) == [1, 2, 4])
    }
}
