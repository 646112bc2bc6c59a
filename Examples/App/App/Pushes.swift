import Foundation
import Observation
import PushService
import SealedPush
import UserNotifications

#if canImport(BackgroundTasks)
import BackgroundTasks
#endif

#if canImport(Intents)
import Intents
#endif

/// A login at the app's own server. Replace it with yours.
nonisolated struct Account: Sendable {
    let session: String

    /// Returns a push token for this account, which your server gets from `POST /v1/logins` (Docs/ServerGuide.md, 1).
    func pushToken() async throws -> String {
        #if DEBUG
        // To try it without your own server, log in with the token itself (Docs/Quickstart.md).
        return session
        #else
        guard let server = Build.server else { throw URLError(.badURL) }
        var request = URLRequest(url: server.appending(path: "push-token"))
        request.httpMethod = "POST"
        request.setValue("Bearer \(session)", forHTTPHeaderField: "Authorization")
        let (data, response) = try await URLSession.shared.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.userAuthenticationRequired) }
        return String(decoding: data, as: UTF8.self)
        #endif
    }
}

/// The `data` of this app's messages.
nonisolated struct MessageData: Decodable {
    let thread: String?
}

/// Handles everything about the app's pushes, and publishes the state that its views show.
@MainActor @Observable final class Pushes {
    static let shared = Pushes()
    /// The identifier in `Info.plist`, under `BGTaskSchedulerPermittedIdentifiers`.
    nonisolated static let refreshTask = "com.example.push-keys"

    private(set) var state = "Nobody is logged in."
    private(set) var log: [String] = []
    /// The conversation of the tapped notification.
    private(set) var thread: String?

    private let app: ServiceConfiguration
    private let server: URL?
    private let saved: SavedStore
    /// Asks the system for a token. The delegate passes on the response, which may never arrive.
    @ObservationIgnored var register: () -> Void = {}
    /// Tells the system that no more pushes are wanted.
    @ObservationIgnored var unregister: () -> Void = {}
    @ObservationIgnored private var last: Task<Void, Never>?

    init(_ app: ServiceConfiguration = .messages, server: URL? = Build.server, saved: SavedStore = SavedStore()) {
        self.app = app
        self.server = server
        self.saved = saved
        if app.senders.isEmpty { state = "Local.xcconfig has no usable SENDER_KEY: no message will open." }
    }

    // MARK: The account

    /// Asks for permission. Call it when the reason is obvious. The system asks once; later calls return the first answer.
    func askForPermission() async {
        let options: UNAuthorizationOptions = [.alert, .badge, .sound]
        let isAllowed = try? await UNUserNotificationCenter.current().requestAuthorization(options: options)
        state = isAllowed == true ? "Notifications are allowed." : "Notifications are off: see the system's settings."
    }

    func logIn(_ account: Account) async {
        // Leave the previous account first; otherwise, its messages would still open here.
        await logOut()
        await saved.change { $0.session = account.session }
        register()
        await enroll()
    }

    /// Logs out at once, with or without a network. If the server can't be told now, the next launch tells it.
    func logOut() async {
        guard await saved.value.session != nil else { return }
        await saved.change {
            // If an earlier account's leaving still waits, this one was never registered.
            $0.leaving = $0.leaving ?? $0.session
            $0.session = nil
        }
        state = "Nobody is logged in."
        unregister()
        await inTurn { await self.leave() }
        // Done last, because a push that was being opened in the meantime also belongs to the account.
        let center = UNUserNotificationCenter.current()
        center.removeAllDeliveredNotifications()
        try? BadgeCount(container: app.container)?.set(0)
        try? await center.setBadgeCount(0)
        #if canImport(Intents)
        try? await INInteraction.deleteAll()
        #endif
    }

    /// Tells the server that this phone left its account. Returns whether another may be registered: the keys are destroyed.
    @discardableResult private func leave() async -> Bool {
        guard let old = await saved.value.leaving else { return true }
        guard let client = client(old, while: { $0.leaving == old }) else { return false }
        do {
            try await client.unregister(app)
            await forgetLeaving(of: old)
            return true
        } catch {
            // The old login isn't kept for a request that can't succeed.
            if !error.isTemporary { await forgetLeaving(of: old) }
            state = "Logged out, but the server doesn't know: \(error)"
            if case .device = error { return false }
            return true
        }
    }

    private func forgetLeaving(of old: String) async {
        await saved.change { if $0.leaving == old { $0.leaving = nil } }
    }

    /// Leaves and registers one after another, so that each begins with the login and the leaving that the last one stored.
    private func inTurn(_ work: @escaping @MainActor () async -> Void) async {
        let task = Task { [last] in
            await last?.value
            await work()
        }
        last = task
        await task.value
    }

    /// - Parameter isValid: Whether the login may still be used when the server is called.
    private func client(
        _ session: String, while isValid: @escaping @Sendable (Saved) -> Bool
    ) -> PushServerClient? {
        server.map { server in
            PushServerClient(url: server) { [saved] in
                guard isValid(await saved.value) else { throw URLError(.userAuthenticationRequired) }
                return "Bearer \(try await Account(session: session).pushToken())"
            }
        }
    }

    // MARK: Token and keys

    /// Stores the token and enrolls. Called at every launch, with or without permission, because the token can change.
    func took(token: Data) async {
        await saved.change { $0.token = token }
        await enroll()
    }

    func tookNoToken(_ error: any Error) { state = "No token: \(error.localizedDescription)" }

    /// Enrolls once a day in the background with the stored token, because the callback with a new one may never arrive.
    func refresh() async {
        planRefresh()
        await launched()
        await enroll()
    }

    /// Asks for a token if someone is logged in; otherwise, the system must not send pushes.
    func launched() async {
        if await saved.value.session != nil { register() }
        await inTurn { await self.leave() }
    }

    private func enroll() async { await inTurn { await self.enrollNow() } }

    private func enrollNow() async {
        let saved = await saved.value
        guard let session = saved.session else { return }
        guard let token = saved.token else {
            state = "Logged in; waiting for a push token."
            return
        }
        guard let client = client(session, while: { $0.session == session }) else {
            state = "Local.xcconfig has no usable SERVER."
            return
        }
        guard await leave() else { return }
        let registration = await client.register(app, token: token, environment: Build.environment)
        if registration.device != nil {
            // The server has given this phone to the account, so nothing is left to tell it.
            await self.saved.change { if $0.session == session { $0.leaving = nil } }
        }
        // No work is lost: the next call finishes it.
        state = registration.problems.first?.description ?? "Enrolled as \(registration.device ?? "this device")."
        if registration.maintenance?.isOverdue == true { state += " A new key has waited for a message for 45 days." }
    }

    func planRefresh() {
        #if canImport(BackgroundTasks)
        let request = BGAppRefreshTaskRequest(identifier: Self.refreshTask)
        request.earliestBeginDate = Date(timeIntervalSinceNow: 86_400)
        // Fails if background refresh is turned off; the app then enrolls only at launch.
        try? BGTaskScheduler.shared.submit(request)
        #endif
    }

    /// Asks the server for a test push to this phone.
    func sendTest() async {
        guard let session = await saved.value.session,
            let client = client(session, while: { $0.session == session })
        else {
            state = "Log in first."
            return
        }
        do {
            try await client.sendTest(to: app)
            state = "A test is on its way."
        } catch { state = "The test wasn't sent: \(error)" }
    }

    // MARK: Notifications

    func becameActive() async {
        await inTurn { await self.leave() }
        await openWhatWasLocked()
        log = await Self.logLines(of: app)
    }

    @concurrent private static func logLines(of app: ServiceConfiguration) async -> [String] {
        let entries = ServiceLog(container: app.container)?.entries() ?? []
        return entries.reversed().map { entry in
            let keyIDs = "\(entry.recipientKeyID ?? "-") \(entry.senderKeyID ?? "-")"
            return "\(entry.time.date.formatted()) \(entry.reason?.rawValue ?? "opened") \(keyIDs)"
        }
    }

    /// Opens pushes that arrived before the first unlock. They show the safe default and contain their envelope.
    func openWhatWasLocked() async {
        let center = UNUserNotificationCenter.current()
        for notification in await center.deliveredNotifications() {
            guard let request = await app.reopened(notification) else { continue }
            try? await center.add(request)
        }
    }

    /// Removes notifications that were read on another device, and returns whether the push was such a withdrawal.
    func withdraw(_ envelope: String?) async -> Bool {
        guard let envelope else { return false }
        return (try? await app.withdraw(envelope: envelope)) != nil
    }

    /// Handles a tap, which removes a notification from the list. One from before the first unlock is opened here.
    func tapped(_ notification: UNNotification) async {
        let opened = await app.reopened(notification) ?? notification.request
        // Nil if the extension didn't create the notification.
        guard let sealed = SealedNotification(userInfo: opened.content.userInfo), sealed.reason == nil else { return }
        thread = try? sealed.decode(MessageData.self).thread
    }
}
