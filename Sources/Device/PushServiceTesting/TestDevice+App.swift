import Foundation
public import PushApp
internal import PushCore
internal import PushService
internal import SealedPush
public import UserNotifications

/// An app on a test device, with its own object for pushes and a server that takes the device.
///
/// ```swift
/// let device = try TestDevice()
/// await device.launch(pushes)
/// await pushes.logIn("alice")
/// await device.giveToken(to: pushes)
/// try await device.show(Content(title: "Nina", body: "Lunch?"), identifier: "1", by: NotificationService())
/// await pushes.logOut()
/// #expect(device.notifications.isEmpty && !device.isRegistered)
/// ```
/// What differs from a phone: nothing happens by itself. The test launches and activates the app, gives it a token, and calls
/// `refresh()` for the daily task. The server takes any login. `sendTest()` asks it, but no push arrives; show one instead.
extension TestDevice {
    /// Starts an app's process, as the system does, and returns once `start()` has done its work. If it ran before, on this or
    /// another device, that process ends first. The login and the token stay on the device.
    ///
    /// The object's calls to the system, its storage, and its network are the device's from now on. A missing server's URL is
    /// replaced.
    @MainActor public func launch(_ pushes: SealedPushes) async {
        var system = AppSystem()
        system.register = { [state] in state.withLock { $0.wantsToken = true } }
        system.unregister = { [state] in state.withLock { $0.wantsToken = false } }
        let (url, topic, service) = await pushes.move(
            to: environment, system, storage, standIn: URL(string: "https://push.example.com"))
        let server = url.map {
            TestServer(at: TestServer.Place(url: $0, topic: topic, service: service), sender: sender)
        }
        state.withLock { state in
            state.wantsToken = false
            guard let server, !state.servers.contains(where: { $0.place == server.place }) else { return }
            state.servers.append(server)
        }
        _ = pushes.begin()
        await pushes.launched()
    }

    /// Gives the app a token if it asked for one and the device is online; returns once the app has handled it.
    @MainActor public func giveToken(to pushes: SealedPushes) async {
        guard state.withLock({ $0.wantsToken && $0.isOnline }) else { return }
        await pushes.took(token: Data(repeating: 0xab, count: 32))
    }

    /// Brings the app to the foreground, and returns once it has done what had to wait, such as for the first unlock.
    @MainActor public func activate(_ pushes: SealedPushes) async { await pushes.becameActive() }

    /// Whether the device reaches the app's server and the files of ``serve(_:at:)``. True at first.
    public var isOnline: Bool {
        get { state.withLock { $0.isOnline } }
        set { state.withLock { $0.isOnline = newValue } }
    }

    /// Whether the app's server has this device, with a token and a proven key.
    public var isRegistered: Bool { state.withLock { $0.servers }.contains(where: \.hasPhone) }

    /// The app's notifications on the device, oldest first: what the extension showed, unless it was removed since.
    public var notifications: [UNNotificationRequest] { list.requests }

    /// The number on the app's icon.
    public var badge: Int { list.badge }

    #if os(Linux)
    /// Taps a notification, or chooses one of its actions. That removes it, and returns once the app has handled it. Does nothing
    /// if there is no such notification.
    ///
    /// Only on Linux: on Apple's systems, nobody but the system can create a response.
    @MainActor public func tap(
        _ identifier: String, action: String = UNNotificationDefaultActionIdentifier, in pushes: SealedPushes
    ) async {
        guard let request = list.requests.first(where: { $0.identifier == identifier }) else { return }
        list.removeDeliveredNotifications(withIdentifiers: [identifier])
        await pushes.tapped(
            UNNotificationResponse(
                notification: UNNotification(request: request, date: Date()), actionIdentifier: action))
    }
    #endif
}
