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
/// Accounts with names come and go at run time: ``add(_:session:)``, ``remove(_:)``. Each has an object of its own in
/// ``accounts``, with its status and its login, to call instead of this one's. The token, taps, and background pushes stay
/// here.
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

    /// The pushes of each account with a name, by that name.
    public private(set) var accounts: [AccountName: SealedPushes] = [:]

    @ObservationIgnored private var app: ServiceConfiguration
    @ObservationIgnored private var server: URL?
    private let service: ServiceName?
    private let environment: PushEnvironment
    private let authorization: @Sendable (PushAccount?, _ session: String) async throws -> String
    @ObservationIgnored private var saved: SavedStore
    /// Whether this object's own login is used: not if all accounts have names, in objects of their own.
    private let hasOwnAccount: Bool
    /// A mistake in the configuration, shown instead of any other status.
    private var fault: PushStatus? {
        guard hasOwnAccount else { return nil }
        return !app.trustsAnyone ? .noSender : server == nil ? .noServer : nil
    }
    /// The system's calls, which tests replace.
    @ObservationIgnored package var system = AppSystem.current
    @ObservationIgnored private var isStarted = false
    @ObservationIgnored private var waitingTap: (SealedNotification, UNNotificationResponse)?
    @ObservationIgnored private var last: Task<Void, Never>?
    /// The accounts that this process removed or found removed, and those of them whose servers may still have to be told.
    @ObservationIgnored private var removed: Set<AccountID> = []
    @ObservationIgnored private var leavers: [AccountID: SealedPushes] = [:]
    /// For an account with a name, the object that has it.
    @ObservationIgnored private weak var whole: SealedPushes?
    @ObservationIgnored private var isRemoved = false

    /// Creates an app's pushes. Nothing happens before ``start()``.
    ///
    /// - Parameters:
    ///   - app: The configuration, the same as the extension's.
    ///   - server: The URL where the server's paths begin (`PushServerClient`); must be `https`. Nil, from an invalid text, is
    ///     reported as ``PushStatus/noServer``.
    ///   - service: The name of the server's service; nil if it's the topic.
    ///   - environment: The Apple service that tokens are for.
    ///   - storage: Where the login and the token are kept; nil for the keychain.
    ///   - authorization: Returns the value of the header `Authorization` for a session that was passed to ``logIn(_:)``, or to
    ///     ``add(_:session:)``. After a logout, it may be called again with the session that ended. If it throws then, the old
    ///     login isn't kept.
    public init(
        _ app: ServiceConfiguration, server: URL?, service: ServiceName? = nil,
        environment: PushEnvironment = .ofThisBuild, storage: (any PushStorage)? = nil,
        authorization: @escaping @Sendable (_ session: String) async throws -> String
    ) {
        self.app = app
        self.server = server
        self.service = service
        self.environment = environment
        self.authorization = { _, session in try await authorization(session) }
        saved = SavedStore(storage ?? KeychainStorage(topic: app.topic))
        hasOwnAccount = true
        status = !app.trustsAnyone ? .noSender : server == nil ? .noServer : .starting
    }

    /// Creates the pushes of an app whose accounts all have names, so that this object's own login isn't used. Its configuration
    /// needs no sender.
    ///
    /// - Parameters:
    ///   - app: The configuration, the same as the extension's.
    ///   - environment: The Apple service that tokens are for.
    ///   - storage: Where the logins and the token are kept; nil for the keychain.
    ///   - authorization: Returns the value of the header `Authorization` for an account and the session that was passed with it.
    public init(
        accountsOf app: ServiceConfiguration, environment: PushEnvironment = .ofThisBuild,
        storage: (any PushStorage)? = nil,
        authorization: @escaping @Sendable (PushAccount, _ session: String) async throws -> String
    ) {
        self.app = app
        (server, service) = (nil, nil)
        self.environment = environment
        self.authorization = { account, session in
            guard let account else { throw URLError(.userAuthenticationRequired) }
            return try await authorization(account, session)
        }
        saved = SavedStore(storage ?? KeychainStorage(topic: app.topic))
        hasOwnAccount = false
        status = .starting
    }

    /// Creates the pushes of one account.
    private init(_ account: ServiceConfiguration, _ id: AccountID, of whole: SealedPushes) {
        app = account
        (server, service) = (account.account?.server, account.account?.service)
        environment = whole.environment
        authorization = whole.authorization
        saved = SavedStore(part: id.description, of: whole.saved)
        hasOwnAccount = true
        status = account.trustsAnyone ? .starting : .noSender
        super.init()
        self.whole = whole
        system = AppSystem()
        system.register = { [weak whole] in whole?.system.register() }
        system.unregister = { [weak whole] in whole?.system.unregister() }
        system.forgetPeople = AppSystem.forgettingPeople(of: id)
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
        guard !isStarted, whole == nil else { return false }
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
        (accounts, removed, leavers) = ([:], [], [:])
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
        guard !isRemoved else { return }
        await logOut()
        guard await saved.value.session == nil, await saved.change({ $0.session = session }) else {
            return show(.notSaved)
        }
        system.register()
        await enroll()
    }

    /// Logs out at once, with or without a network, and removes all of the account's delivered notifications. If the server can't
    /// be told now, the next launch tells it. Does nothing if nobody is logged in.
    public func logOut() async {
        guard await saved.value.session != nil else { return }
        let isSaved = await saved.change {
            // If an earlier account's leaving still waits, this one was never registered.
            $0.leaving = $0.leaving ?? $0.session
            $0.session = nil
        }
        show(isSaved ? .loggedOut : .notSaved)
        if await !saved.hasOthers { system.unregister() }
        await inTurn { await self.leave() }
        // Done last, because a push that was being opened in the meantime also belongs to the account.
        await Self.clear(app)
        await system.forgetPeople()
    }

    /// Removes the account's notifications, and its part of the badge.
    @concurrent private static func clear(_ app: ServiceConfiguration) async {
        let own = app.container.account
        if own == nil, !app.accounts.hasAny {
            app.environment.notifications.removeAllDeliveredNotifications()
        } else {
            // Notifications from before the first unlock may belong to other accounts.
            await app.accounts.removeNotifications(keepingLocked: true) { $0 == own }
        }
        try? app.folder.map(BadgeCount.init(in:))?.set(0)
        let total = (try? await app.accounts.badge()) ?? 0
        try? await app.environment.notifications.setBadgeCount(total)
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
            PushServerClient(url: server, service: service) { [saved, authorization, account = app.account] in
                guard isValid(await saved.value) else { throw URLError(.userAuthenticationRequired) }
                return try await authorization(account, session)
            }
        }
    }

    // MARK: Token and keys

    /// Registers with a token from the system. Called at every launch, with or without permission, because it can change.
    public func didRegister(_ deviceToken: Data) { Task { await took(token: deviceToken) } }

    /// Notes that the system has no token: no network, or no Push Notifications capability. The next launch tries again.
    public func didFailToRegister(_ error: any Error) {
        show(.noToken(error.localizedDescription))
        for account in accounts.values where account.status == .waitingForToken { account.didFailToRegister(error) }
    }

    /// Registers with the stored token, because the callback with a new one may never arrive. Called once a day in the
    /// background. Call it to try again, such as from a button.
    public func refresh() async {
        system.planRefresh(refreshTask)
        await removeExpired()
        await launched()
        await enrollAll()
    }

    package func took(token: Data) async {
        await saved.change { $0.token = token }
        await enrollAll()
    }

    /// Asks for a token if someone is logged in; otherwise, the system must not send pushes.
    package func launched() async {
        var isLoggedIn = await noticeLogin()
        let removals = await findAccounts()
        for account in accounts.values { isLoggedIn = await account.noticeLogin() || isLoggedIn }
        if isLoggedIn { system.register() }
        await inTurn { await self.leave() }
        for account in accounts.values { await account.inTurn { await account.leave() } }
        for removal in removals { await removal.value }
    }

    /// Returns whether someone is logged in, and shows it unless more is known.
    private func noticeLogin() async -> Bool {
        let isLoggedIn = await saved.value.session != nil
        if status == .starting || status == .loggedOut { show(isLoggedIn ? .waitingForToken : .loggedOut) }
        return isLoggedIn
    }

    /// Registers all accounts at once, so that one server that doesn't answer delays no other account.
    private func enrollAll() async {
        let others = accounts.values.map { account in Task { await account.enroll() } }
        await enroll()
        for other in others { await other.value }
    }

    private func enroll() async { await inTurn { await self.enrollNow() } }

    private func enrollNow() async {
        guard !isRemoved else { return }
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

    // MARK: Accounts with names

    /// Adds an account with a name and logs in there. If it's there already, with the same pins, only logs in.
    ///
    /// Returns once the account is registered at its server, or the attempt failed: see the status of the returned object, which is
    /// also in ``accounts``. The next launch or refresh tries again.
    ///
    /// - Parameters:
    ///   - account: The account and what it pins.
    ///   - session: The account's login, as for ``logIn(_:)``.
    /// - Throws: `accountExists`, `tooManyAccounts`, `unusableAccount`, or an error of the keychain. Nothing was added then.
    @discardableResult public func add(
        _ account: PushAccount, session: String
    ) async throws(DeviceError) -> SealedPushes {
        if let whole { return try await whole.add(account, session: session) }
        let configuration = try await app.accounts.add(account)
        guard let pushes = pushes(of: configuration) else {
            throw .unavailable("the account was removed while it was being added")
        }
        await pushes.logIn(session)
        return pushes
    }

    /// Removes an account at once, with or without a network: destroys its keys, and removes its notifications. If its server
    /// can't be told now, the next launch tells it. Does nothing if there is no account with this name.
    ///
    /// - Throws: an error of the keychain, such as `locked` before the first unlock. The next launch finishes what was begun.
    public func remove(_ name: AccountName) async throws(DeviceError) {
        if let whole { return try await whole.remove(name) }
        guard let id = try await app.accounts.leave(name) else { return }
        removed.insert(id)
        if accounts[name]?.app.container.account == id { return await finish(id, nil) }
        // This process hasn't seen the account. If the keychain fails now, the next launch finishes.
        let known = try await app.accounts.known()
        await finish(id, known.left.first { $0.id == id }?.configuration)
    }

    /// Reads the accounts from the keychain, and begins to finish interrupted removals. Does nothing before the first unlock.
    private func findAccounts() async -> [Task<Void, Never>] {
        guard whole == nil, let known = try? await app.accounts.known() else { return [] }
        for configuration in known.live { _ = pushes(of: configuration) }
        // Each server is told on its own, so that one that doesn't answer delays no other account.
        let removals = known.left.map { id, configuration in
            removed.insert(id)
            return Task { await finish(id, configuration) }
        }
        try? await app.accounts.removeStrays()
        return removals
    }

    /// Returns the object of an account; creates it if it's new.
    private func pushes(of configuration: ServiceConfiguration) -> SealedPushes? {
        guard let id = configuration.container.account, let name = configuration.account?.name else { return nil }
        if let known = accounts[name], known.app.container.account == id { return known }
        // It may have been removed since it was read.
        guard !removed.contains(id) else { return nil }
        let pushes = SealedPushes(configuration, id, of: self)
        accounts[name] = pushes
        return pushes
    }

    /// Tells the server of an account that was removed, and then destroys what is left of it. If the server can't be told now, the
    /// next launch tries again. Without pins, it isn't known which server to tell.
    private func finish(_ id: AccountID, _ configuration: ServiceConfiguration?) async {
        let known = accounts.first { $0.value.app.container.account == id }
        if let known { accounts[known.key] = nil }
        let leaver = leavers[id] ?? known?.value ?? configuration.map { SealedPushes($0, id, of: self) }
        leaver?.isRemoved = true
        leavers[id] = leaver
        await app.accounts.removeNotifications { $0 == id }
        guard let leaver else {
            await saved.change { $0.replace(id.description, with: Saved()) }
            await AppSystem.forgettingPeople(of: id)()
            try? await app.accounts.erase(id)
            return
        }
        await leaver.logOut()
        await leaver.inTurn { [app] in
            await leaver.leave()
            guard await leaver.isTold, (try? await app.accounts.erase(id)) != nil else { return }
            self.leavers[id] = nil
        }
    }

    /// Whether the server knows that this phone left, or can't be told.
    private var isTold: Bool {
        get async {
            let saved = await saved.value
            return saved.session == nil && saved.leaving == nil
        }
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
        // Before the first unlock, neither the accounts nor the logins were readable.
        let removals = await findAccounts()
        var isNew = false
        for pushes in [self] + accounts.values where [.starting, .loggedOut].contains(pushes.status) {
            isNew = await pushes.noticeLogin() || isNew
        }
        if isNew { system.register() }
        await inTurn { await self.leave() }
        await openWhatWasLocked()
        await removeExpired()
        log = await Self.entries(of: app)
        for removal in removals { await removal.value }
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
