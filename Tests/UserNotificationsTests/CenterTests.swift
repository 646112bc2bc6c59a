import Foundation
import Testing
import UserNotifications

@Suite("A notification center")
struct CenterTests {
    private let center = UNUserNotificationCenter(now: { Date(timeIntervalSince1970: 1) })

    private func request(_ identifier: String, in seconds: TimeInterval? = nil) -> UNNotificationRequest {
        let trigger = seconds.map { UNTimeIntervalNotificationTrigger(timeInterval: $0, repeats: false) }
        return UNNotificationRequest(identifier: identifier, content: UNNotificationContent(), trigger: trigger)
    }

    @Test("of the process is one and the same, also on the main actor")
    @MainActor
    func current() async {
        let center = UNUserNotificationCenter.current()
        #expect(center === UNUserNotificationCenter.current())
        #expect(await center.notificationSettings().authorizationStatus == .notDetermined)
        #expect(!center.supportsContentExtensions)
    }

    @Test("turns on what was asked for when the person agrees")
    func authorization() async throws {
        #expect(try await center.requestAuthorization(options: [.alert, .sound]))
        let settings = await center.notificationSettings()
        #expect(settings.authorizationStatus == .authorized)
        #expect([settings.alertSetting, settings.soundSetting] == [.enabled, .enabled])
        #expect(settings.badgeSetting == .notSupported)
        #expect(settings.alertStyle == .banner)
        center.requestAuthorization(options: .provisional) { isAllowed, error in
            #expect(isAllowed)
            #expect(error == nil)
        }
        center.getNotificationSettings { #expect($0.authorizationStatus == .provisional) }
    }

    @Test("that may show nothing takes no request")
    func denied() async throws {
        center.settings = UNNotificationSettings(.denied, for: .alert)
        #expect(try await !center.requestAuthorization(options: [.alert]))
        #expect(await center.notificationSettings().alertSetting == .disabled)
        var code: UNError.Code?
        center.add(request("1")) { error in code = (error as? UNError)?.code }
        #expect(code == .notificationsNotAllowed)
        await #expect(throws: UNError(.notificationsNotAllowed)) { try await center.add(request("1")) }
        #expect(center.delivered.isEmpty)
    }

    @Test("delivers a request without a trigger and keeps one with a trigger pending")
    func requests() async throws {
        try await center.add(request("now"))
        try await center.add(request("later", in: 5))
        center.add(request("latest", in: 9)) { #expect($0 == nil) }
        #expect(await center.deliveredNotifications().map(\.request.identifier) == ["now"])
        #expect(center.delivered.first?.date == Date(timeIntervalSince1970: 1))
        #expect(await center.pendingNotificationRequests().map(\.identifier) == ["later", "latest"])
        center.removePendingNotificationRequests(withIdentifiers: ["later", "none"])
        center.getPendingNotificationRequests { #expect($0.map(\.identifier) == ["latest"]) }
        center.removeAllPendingNotificationRequests()
        #expect(center.pending.isEmpty)
    }

    @Test("replaces a delivered notification by one with the same identifier")
    func replacement() async {
        for identifier in ["a", "b", "a"] {
            center.deliver(UNNotification(request: request(identifier), date: Date()))
        }
        #expect(center.delivered.map(\.request.identifier) == ["b", "a"])
        center.removeDeliveredNotifications(withIdentifiers: ["b"])
        center.getDeliveredNotifications { #expect($0.map(\.request.identifier) == ["a"]) }
        center.removeAllDeliveredNotifications()
        #expect(await center.deliveredNotifications().isEmpty)
    }

    @Test("keeps the app's categories")
    func categories() async {
        let category = UNNotificationCategory(identifier: "message", actions: [], intentIdentifiers: [])
        center.setNotificationCategories([category])
        #expect(await center.notificationCategories() == [category])
        center.getNotificationCategories { #expect($0 == [category]) }
    }

    @Test("takes a badge count that is not negative")
    func badge() async throws {
        try await center.setBadgeCount(3)
        #expect(center.badgeCount == 3)
        center.setBadgeCount(-1) { #expect(($0 as? UNError)?.code == .badgeInputInvalid) }
        await #expect(throws: UNError(.badgeInputInvalid)) { try await center.setBadgeCount(-1) }
        #expect(center.badgeCount == 3)
    }

    @Test("has Apple's raw values in its options and settings")
    func rawValues() {
        let authorization: [UNAuthorizationOptions] = [
            .badge, .sound, .alert, .carPlay, .criticalAlert, .providesAppNotificationSettings, .provisional,
            .announcement, .timeSensitive,
        ]
        #expect(authorization.map(\.rawValue) == (0...8).map { 1 << $0 })
        let presentation: [UNNotificationPresentationOptions] = [.badge, .sound, .alert, .list, .banner]
        #expect(presentation.map(\.rawValue) == (0...4).map { 1 << $0 })
        let status: [UNAuthorizationStatus] = [.notDetermined, .denied, .authorized, .provisional, .ephemeral]
        #expect(status.map(\.rawValue) == [0, 1, 2, 3, 4])
        let setting: [UNNotificationSetting] = [.notSupported, .disabled, .enabled]
        #expect(setting.map(\.rawValue) == [0, 1, 2])
        #expect([UNAlertStyle.none, .banner, .alert].map(\.rawValue) == [0, 1, 2])
        #expect([UNShowPreviewsSetting.always, .whenAuthenticated, .never].map(\.rawValue) == [0, 1, 2])
    }
}
