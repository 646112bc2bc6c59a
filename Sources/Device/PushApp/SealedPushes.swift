public import Foundation
public import Observation
public import PushService
public import SealedPush
public import UserNotifications

/// An app's pushes: permission, token, keys, login and logout, taps, and the log. An app creates one and keeps it.
///
/// The extension (`SealedNotificationService`) shows messages. This object does everything else, except the login at the app's
/// own server. The app's delegate inherits from ``PushAppDelegate``, or starts it and forwards three calls itself:
///
/// ```swift
/// @MainActor let pushes = SealedPushes(.messages, server: URL(string: "https://push.example.com")) { session in
///     "Bearer \(try await myServer.pushToken(for: session))"
/// }
/// // application(_:didFinishLaunchingWithOptions:)                             pushes.start()
/// // application(_:didRegisterForRemoteNotificationsWithDeviceToken:)          pushes.didRegister(deviceToken)
/// // application(_:didFailToRegisterForRemoteNotificationsWithError:)          pushes.didFailToRegister(error)
/// // application(_:didReceiveRemoteNotification:)           await pushes.didReceive(userInfo) ? .newData : .noData
/// ```
/// UIKit finds these methods by their names in the app's delegate, so no single call can replace them. Everything else arrives
/// without the app's help: taps, because ``start()`` makes this object the notification center's delegate; and the first
/// unlock, each activation, and a daily background task, because it asks the system for them.
///
/// The app calls ``logIn(_:)``, ``logOut()``, and, once the reason is obvious, ``askForPermission(for:)``. It shows ``status``
/// and ``log``, which SwiftUI observes, and routes taps in ``onTap``.
///
/// These hold at each moment, even if the app is killed between two steps:
/// - A logout needs no network. It's stored first; then the keys are destroyed, so that messages to this account, wherever
///   held, don't open for the next one; then the server is told. Later launches finish an interrupted logout.
/// - No account is registered while the keys of an earlier one may exist.
/// - Registrations and logouts run one after another, and each begins with the login that the last one stored.
/// - The old account's login is kept only until its server knows, or can't be told.
/// - Before the first unlock, when neither keys nor login can be read, nothing is lost or overwritten.
///
/// On the main actor, which never waits for the keychain, a disk, or the network. Create one object for each topic.
@MainActor @Observable public final class SealedPushes: NSObject {
    /// The state of the login and of the registration at the server.
    public private(set) var status: PushStatus
    /// The extension's log, newest first, as of the last activation.
    public private(set) var log: [ServiceLog.Entry] = []
    /// Handles a response to a notification whose message opened, such as a tap. A response that comes first, as at launch,
    /// waits until this is set. The system keeps the app awake until the closure returns.
    @ObservationIgnored public var onTap: (@MainActor (SealedNotification, UNNotificationResponse) async -> Void)? {
        didSet { handleWaitingTap() }
    }

    @ObservationIgnored private var app: ServiceConfiguration
    @ObservationIgnored private var server: URL?
    private let service: ServiceName?
    private let environment: PushEnvironment
    private let authorization: @Sendable (_ session: String) async throws -> String
    @ObservationIgnored private var saved: SavedStore
    /// A mistake in the configuration, shown instead of any other status.
    private var fault: PushStatus? { !app.trustsAnyone ? .noSender : server == nil ? .noServer : nil }
    /// The system's calls, which tests replace.
    @ObservationIgnored package var system = AppSystem.current
    @ObservationIgnored private var isStarted = false
    @ObservationIgnored private var waitingTap: (SealedNotification, UNNotificationResponse)?
    @ObservationIgnored private var last: Task<Void, Never>?

    /// Creates an app's pushes. Nothing happens before ``start()``.
    ///
    /// - Parameters:
    ///   - app: The configuration, the same as the extension's.
    ///   - server: The URL where the server's paths begin (`PushServerClient`); must be `https`. Nil, from an invalid text, is
    ///     reported as ``PushStatus/noServer``.
    ///   - service: The name of the server's service; nil if it's the topic.
    ///   - environment: The Apple service that tokens are for.
    ///   - storage: Where the login and the token are kept; nil for the keychain.
    ///   - authorization: Returns the value of the header `Authorization` for a session that was passed to ``logIn(_:)``.
    ///     After a logout, it may be called again with the session that ended. If it throws then, the old login isn't kept.
    public init(
        _ app: ServiceConfiguration, server: URL?, service: ServiceName? = nil,
        environment: PushEnvironment = .ofThisBuild, storage: (any PushStorage)? = nil,
        authorization: @escaping @Sendable (_ session: String) async throws -> String
    ) {
        self.app = app
        self.server = server
        self.service = service
        self.environment = environment
        self.authorization = authorization
        saved = SavedStore(storage ?? KeychainStorage(topic: app.topic))
        status = !app.trustsAnyone ? .noSender : server == nil ? .noServer : .starting
    }

    /// Begins: takes over the notification center's delegate, asks for a token if someone is logged in, finishes an interrupted
    /// logout, and plans the daily refresh. Call it in `application(_:didFinishLaunchingWithOptions:)`, before the app has
    /// finished launching; otherwise, the tap that launched it is missed.
    ///
    /// To keep a delegate of your own, set it afterwards, and forward both delegate methods to this object. For the refresh,
    /// list `BUNDLE-ID.push-keys` under `BGTaskSchedulerPermittedIdentifiers`, and add the background mode `fetch`.
    public func start() {
        guard begin() else { return }
        Task { await launched() }
    }

    /// Does the part of ``start()`` that doesn't wait. Returns false if it was done before.
    package func begin() -> Bool {
        guard !isStarted else { return false }
        isStarted = true
        app.environment.notifications.report(to: self)
        system.begin(refreshTask, self)
        system.planRefresh(refreshTask)
        return true
    }

    /// Moves to a test's device, where the app's process has just begun, once the last process has ended.
    ///
    /// - Parameter standIn: A server's URL, in place of a missing one.
    package func move(
        to environment: DeviceEnvironment, _ system: AppSystem, _ storage: any PushStorage, standIn: URL?
    ) async -> (server: URL?, topic: Topic, service: ServiceName?) {
        await last?.value
        app.environment = environment
        self.system = system
        saved = SavedStore(storage)
        server = server ?? standIn
        (isStarted, waitingTap, log) = (false, nil, [])
        show(.starting)
        return (server, app.topic, service)
    }

    private var refreshTask: String { "\(app.topic).push-keys" }

    private func show(_ status: PushStatus) { self.status = fault ?? status }

    // MARK: The account

    /// Asks for permission to show notifications, and returns whether there is. The system asks the user once; later calls
    /// return the first answer, or the one in Settings. Tokens and registration don't need permission.
    @discardableResult public func askForPermission(
        for options: UNAuthorizationOptions = [.alert, .badge, .sound]
    ) async -> Bool {
        (try? await app.environment.notifications.requestAuthorization(options: options)) ?? false
    }

    /// Registers this device for an account, and leaves the previous one first; otherwise, its messages would still open here.
    ///
    /// Returns once the device is registered, or the attempt failed: see ``status``. The next launch or refresh tries again.
    ///
    /// - Parameter session: The account's login at the app's own server, in any form that `authorization` understands. It's
    ///   kept until the logout, for launches in the background.
    public func logIn(_ session: String) async {
        await logOut()
        guard await saved.value.session == nil, await saved.change({ $0.session = session }) else {
            return show(.notSaved)
        }
        system.register()
        await enroll()
    }

    /// Logs out at once, with or without a network, and removes all of the app's delivered notifications. If the server can't
    /// be told now, the next launch tells it. Does nothing if nobody is logged in.
    public func logOut() async {
        guard await saved.value.session != nil else { return }
        let isSaved = await saved.change {
            // If an earlier account's leaving still waits, this one was never registered.
            $0.leaving = $0.leaving ?? $0.session
            $0.session = nil
        }
        show(isSaved ? .loggedOut : .notSaved)
        system.unregister()
        await inTurn { await self.leave() }
        // Done last, because a push that was being opened in the meantime also belongs to the account.
        let center = app.environment.notifications
        center.removeAllDeliveredNotifications()
        try? app.folder.map(BadgeCount.init(in:))?.set(0)
        try? await center.setBadgeCount(0)
        await system.forgetPeople()
    }

    /// Tells the server that this phone left its account. Returns whether another may be registered: the keys are destroyed.
    @discardableResult private func leave() async -> Bool {
        guard let old = await saved.value.leaving else { return true }
        guard let client = client(old, while: { $0.leaving == old }) else { return false }
        do throws(PushServerError) {
            try await client.unregister(app)
            await forgetLeaving(of: old)
            let isLoggedIn = await saved.value.session != nil
            if case .unfinishedLogout = status { show(isLoggedIn ? .waitingForToken : .loggedOut) }
            return true
        } catch {
            // The old login isn't kept for a request that can't succeed.
            if !error.isTemporary { await forgetLeaving(of: old) }
            show(.unfinishedLogout(error))
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
    private func client(_ session: String, while isValid: @escaping @Sendable (Saved) -> Bool) -> PushServerClient? {
        server.map { server in
            PushServerClient(url: server, service: service) { [saved, authorization] in
                guard isValid(await saved.value) else { throw URLError(.userAuthenticationRequired) }
                return try await authorization(session)
            }
        }
    }

    // MARK: Token and keys

    /// Registers with a token from the system. Called at every launch, with or without permission, because it can change.
    public func didRegister(_ deviceToken: Data) { Task { await took(token: deviceToken) } }

    /// Notes that the system has no token: no network, or no Push Notifications capability. The next launch tries again.
    public func didFailToRegister(_ error: any Error) { show(.noToken(error.localizedDescription)) }

    /// Registers with the stored token, because the callback with a new one may never arrive. Called once a day in the
    /// background. Call it to try again, such as from a button.
    public func refresh() async {
        system.planRefresh(refreshTask)
        await removeExpired()
        await launched()
        await enroll()
    }

    package func took(token: Data) async {
        await saved.change { $0.token = token }
        await enroll()
    }

    /// Asks for a token if someone is logged in; otherwise, the system must not send pushes.
    package func launched() async {
        let isLoggedIn = await saved.value.session != nil
        if status == .starting || status == .loggedOut { show(isLoggedIn ? .waitingForToken : .loggedOut) }
        if isLoggedIn { system.register() }
        await inTurn { await self.leave() }
    }

    private func enroll() async { await inTurn { await self.enrollNow() } }

    private func enrollNow() async {
        let saved = await saved.value
        guard let session = saved.session else { return }
        guard let token = saved.token else { return show(.waitingForToken) }
        guard let client = client(session, while: { $0.session == session }) else { return show(.noServer) }
        guard await leave() else { return }
        let registration = await client.register(app, token: token, environment: environment)
        if registration.device != nil {
            // The server has given this phone to the account, so nothing is left to tell it.
            await self.saved.change { if $0.session == session { $0.leaving = nil } }
        }
        // No work is lost: the next call finishes it.
        show(
            registration.problems.first.map(PushStatus.notRegistered)
                ?? .registered(
                    device: registration.device, isOverdue: registration.maintenance?.isOverdue ?? false))
    }

    /// Asks the server for a test push to this phone, at most five per hour.
    ///
    /// - Throws: `noAuthorization` if nobody is logged in; else the errors of `PushServerClient.sendTest(to:)`.
    public func sendTest() async throws(PushServerError) {
        guard let session = await saved.value.session,
            let client = client(session, while: { $0.session == session })
        else { throw .noAuthorization }
        try await client.sendTest(to: app)
    }

    // MARK: Notifications

    /// Handles a background push: a withdrawal removes the notifications that were read on another device. Returns whether
    /// the push was a withdrawal. Trusts only what it decrypts: the rest of the user info isn't authenticated.
    public func didReceive(_ userInfo: [AnyHashable: Any]) async -> Bool {
        guard let envelope = userInfo[Envelope.fieldName] as? String else { return false }
        await removeExpired()
        return (try? await app.withdraw(envelope: envelope)) != nil
    }

    /// Does what may have had to wait, and reads the log.
    package func becameActive() async {
        // Before the first unlock, the login wasn't readable.
        if status == .loggedOut, await saved.value.session != nil {
            show(.waitingForToken)
            system.register()
        }
        await inTurn { await self.leave() }
        await openWhatWasLocked()
        await removeExpired()
        log = await Self.entries(of: app)
    }

    /// Removes the notifications of expired messages, and asks for a refresh when the next one expires.
    private func removeExpired() async {
        guard let next = await app.removeExpired() else { return }
        system.planRemoval(refreshTask, next.date)
    }

    @concurrent private static func entries(of app: ServiceConfiguration) async -> [ServiceLog.Entry] {
        app.folder.map { ServiceLog(folder: $0).entries().reversed() } ?? []
    }

    /// Opens pushes that arrived before the first unlock. They show the safe default and contain their envelope.
    package func openWhatWasLocked() async {
        let center = app.environment.notifications
        for notification in await center.deliveredNotifications() {
            guard let request = await app.openedAgain(notification.request) else { continue }
            try? await center.add(request)
        }
    }

    /// A tap removes a notification from the list. One from before the first unlock is opened here.
    package func tapped(_ response: UNNotificationResponse) async {
        let opened = await app.reopened(response.notification) ?? response.notification.request
        // Nil if the extension didn't create the notification.
        guard let sealed = await app.complete(opened), sealed.reason == nil else { return }
        if let onTap { await onTap(sealed, response) } else { waitingTap = (sealed, response) }
    }

    private func handleWaitingTap() {
        guard let onTap, let (sealed, response) = waitingTap else { return }
        waitingTap = nil
        Task { await onTap(sealed, response) }
    }
}

/// The methods use completion handlers instead of `async`, because UIKit expects them on the main thread.
extension SealedPushes: UNUserNotificationCenterDelegate {
    /// Passes a response to ``onTap`` if the notification's message opened.
    nonisolated public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        // Both are only passed on, and the handler is called once.
        nonisolated(unsafe) let (response, done) = (response, completionHandler)
        Task { @MainActor in
            await tapped(response)
            done()
        }
    }

    /// Shows pushes while the app is open, too. A notification that the app itself added goes only into the list.
    nonisolated public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        let isPush = notification.request.trigger is UNPushNotificationTrigger
        completionHandler(isPush ? [.banner, .list, .sound, .badge] : [.list])
    }
}
