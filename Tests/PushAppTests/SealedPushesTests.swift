import Dispatch
import Foundation
import PushApp
import PushCore
import PushSender
import PushServiceTesting
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

@Suite("An app's pushes, with a system that never calls back and a server that never answers", .blocking)
@MainActor struct SealedPushesTests {
    private let phone: AppPhone

    init() throws { phone = try AppPhone() }

    // MARK: Login

    @Test("the status says whether someone is logged in, and what is missing") func status() async throws {
        let pushes = phone.pushes()
        #expect(pushes.status == .starting)
        await pushes.launched()
        #expect(pushes.status == .loggedOut && phone.calls == [])
        await pushes.logIn("alice's")
        #expect(pushes.status == .waitingForToken && phone.calls == ["register"])
        pushes.didFailToRegister(CocoaError(.userCancelled))
        guard case .noToken = pushes.status else { return #expect(Bool(false), "\(pushes.status)") }
        await pushes.took(token: Data([1]))
        guard case .notRegistered(let problem) = pushes.status else { return #expect(Bool(false), "\(pushes.status)") }
        #expect(problem.error == .unreachable)
        await #expect(throws: PushServerError.unreachable) { try await pushes.sendTest() }
        await pushes.logOut()
        #expect(pushes.status == .unfinishedLogout(.unreachable))
        #expect(phone.calls == ["register", "unregister", "forget people"])
        await #expect(throws: PushServerError.noAuthorization) { try await pushes.sendTest() }

        // An account that was never registered doesn't replace the one that still has to be left.
        await pushes.logIn("bob's")
        await pushes.logOut()
        #expect(try phone.storage.saved.leaving == "alice's")

        // The next process knows.
        let next = phone.pushes()
        await next.launched()
        #expect(next.status == .unfinishedLogout(.unreachable))
        #expect(try phone.storage.saved.leaving == "alice's")
    }

    @Test("a configuration without a usable sender or server is reported, whatever happens, and stops nothing")
    func faults() async throws {
        for (pushes, fault) in [
            (phone.pushes(trusting: []), PushStatus.noSender), (phone.pushes(server: nil), .noServer),
        ] {
            #expect(pushes.status == fault)
            pushes.start()
            await pushes.launched()
            await pushes.logIn("alice's")
            await pushes.took(token: Data([1]))
            await pushes.becameActive()
            #expect(pushes.status == fault)
            await pushes.logOut()
            #expect(pushes.status == fault)
        }
    }

    @Test("a login that can't be saved is reported, and nobody is logged in or out") func notSaved() async throws {
        phone.storage.state.withLock { $0 = .full }
        let pushes = phone.pushes()
        await pushes.logIn("alice's")
        #expect(pushes.status == .notSaved && phone.calls == [])
        phone.storage.state.withLock { $0 = .works }
        await pushes.logIn("alice's")
        // The next account's session must not replace one that wasn't left.
        for state in [MemoryStorage.State.full, .hiccup] {
            phone.storage.state.withLock { $0 = state }
            await pushes.logIn("bob's")
            #expect(pushes.status == .notSaved)
            #expect(try phone.storage.saved.session == "alice's")
        }
    }

    @Test("the old login isn't kept for a logout that can never reach its server") func unreachable() async throws {
        let pushes = phone.pushes(server: URL(string: "http://push.example.com"))
        await pushes.logIn("alice's")
        await pushes.took(token: Data([1]))
        await pushes.logOut()
        #expect(pushes.status == .unfinishedLogout(.notSecure))
        #expect(try phone.storage.saved.leaving == nil)
    }

    @Test("a launch before the first unlock loses neither the login nor the token, which the app notices later")
    func launchesLocked() async throws {
        for locked in [MemoryStorage.State.locked, .hidden] {
            await SavedStore(phone.storage).change { $0.session = "alice's" }
            phone.storage.state.withLock { $0 = locked }
            let pushes = phone.pushes()
            await pushes.launched()
            #expect(pushes.status == .loggedOut && phone.calls == [])
            await pushes.took(token: Data([1]))
            phone.storage.state.withLock { $0 = .works }
            await pushes.becameActive()
            #expect(pushes.status == .waitingForToken && phone.calls == ["register"])
            await pushes.took(token: Data([2]))
            let saved = try phone.storage.saved
            #expect(saved.session == "alice's" && saved.token == Data([2]))
            phone.forgetCalls()
        }
    }

    @Test("a logout removes this phone's notifications and its badge, and no other phone's") func cleans() async throws
    {
        let other = try AppPhone()
        let content = UNMutableNotificationContent()
        for phone in [phone, other] {
            try await phone.center.add(UNNotificationRequest(identifier: "one", content: content, trigger: nil))
            try phone.badge.set(3)
        }
        let pushes = phone.pushes()
        await pushes.logIn("alice's")
        await pushes.logOut()
        #expect(phone.center.notifications.isEmpty && phone.badge.value == 0)
        #expect(phone.center.takeChanges().badge == 0)
        #expect(other.center.notifications.count == 1 && other.badge.value == 3)
    }

    @Test("the main actor stays free while the keychain hangs") func hangs() async throws {
        let items = HangingItems()
        let hanging = try AppPhone(items)
        let locked = UNMutableNotificationContent()
        locked.userInfo = ["sealed-push": ["outcome": "safe-default", "reason": "locked", "envelope": "AQ"]]
        try await hanging.center.add(UNNotificationRequest(identifier: "locked", content: locked, trigger: nil))
        let pushes = hanging.pushes()
        await pushes.logIn("alice's")
        let registering = Task { await pushes.took(token: Data([1, 2])) }
        // If a keychain call ran on this actor, the actor would wait for itself.
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "asked").async {
                items.asked.wait()
                continuation.resume()
            }
        }
        items.gate.signal()
        await registering.value
        await pushes.openWhatWasLocked()
        #expect(hanging.center.notifications.first?.request.content.userInfo.isEmpty == false)
    }

    // MARK: The system

    @Test("starting takes over the delegate and plans the refresh, once") func starts() async throws {
        let pushes = phone.pushes()
        pushes.start()
        pushes.start()
        #expect(phone.center.delegate === pushes)
        #expect(phone.calls == ["begin com.example.app.push-keys", "plan com.example.app.push-keys"])
        #expect(await pushes.askForPermission())
        try await eventually("the start's end") { @MainActor @Sendable in pushes.status == .loggedOut }

        await SavedStore(phone.storage).change { $0.session = "alice's" }
        phone.forgetCalls()
        let next = phone.pushes()
        await next.launched()
        #expect(next.status == .waitingForToken && phone.calls == ["register"])
        phone.forgetCalls()
        await next.refresh()
        #expect(phone.calls == ["plan com.example.app.push-keys", "register"])
    }

    @Test("a push is shown while the app is open; a notification that the app added itself appears only in the list")
    func presents() {
        let all: UNNotificationPresentationOptions = [.banner, .list, .sound, .badge]
        let cases: [(UNNotificationTrigger?, UNNotificationPresentationOptions)] = [
            (UNPushNotificationTrigger(), all), (nil, .list),
        ]
        for (trigger, expected) in cases {
            let request = UNNotificationRequest(
                identifier: "one", content: UNMutableNotificationContent(), trigger: trigger)
            var options: UNNotificationPresentationOptions = []
            phone.pushes().userNotificationCenter(
                phone.center, willPresent: UNNotification(request: request, date: .now)
            ) { options = $0 }
            #expect(options == expected)
        }
    }

    @Test("a background push that isn't a withdrawal is refused") func receives() async throws {
        let pushes = phone.pushes()
        #expect(await pushes.didReceive([:]) == false)
        #expect(await pushes.didReceive(["custom-encrypted-message": 1]) == false)
        #expect(await pushes.didReceive(["custom-encrypted-message": try phone.seal(Content(body: "x"))]) == false)
        let withdrawal = Content(withdrawing: .thread("lunch"))
        #expect(await pushes.didReceive(["custom-encrypted-message": try phone.seal(withdrawal)]) == true)
    }

    // MARK: Notifications

    private func lunch() throws -> Content {
        var content = Content(title: "Nina", body: "Lunch?")
        content.data = ["thread": "lunch"]
        return content
    }

    private func response(to content: UNNotificationContent) -> UNNotificationResponse {
        let request = UNNotificationRequest(identifier: "one", content: content, trigger: nil)
        return UNNotificationResponse(
            notification: UNNotification(request: request, date: .now),
            actionIdentifier: UNNotificationDefaultActionIdentifier)
    }

    /// Responds as the system does, and returns once it may suspend the app.
    private func respond(_ response: UNNotificationResponse, _ pushes: SealedPushes) async {
        await withCheckedContinuation { continuation in
            pushes.userNotificationCenter(phone.center, didReceive: response) { continuation.resume() }
        }
    }

    @Test("a push received before the first unlock replaces the safe default later, and the log says so")
    func unlocks() async throws {
        let locked = try phone.locked(lunch())
        try await phone.center.add(UNNotificationRequest(identifier: "one", content: locked, trigger: nil))
        let pushes = phone.pushes()
        await pushes.becameActive()
        let shown = phone.center.notifications.map(\.request.content)
        #expect(shown.map { $0.title } == ["Nina"])
        #expect(pushes.log.map { $0.description.prefix(7) } == ["opened "])
        await pushes.tapped(response(to: shown[0]))
        let threads = Locked<[JSONValue?]>([])
        pushes.onTap = { message, _ in threads.withLock { $0.append(message.data?["thread"]) } }
        try await eventually("the tap is handled") { @Sendable in threads.withLock { $0 } == ["lunch"] }
    }

    @Test("expired notifications go when the app becomes active, refreshes, or gets a push; the next one is planned")
    func expires() async throws {
        func show(_ name: String, expires: Timestamp?) async throws {
            let content = UNMutableNotificationContent()
            var members: [String: Any] = ["outcome": "opened"]
            members["expires"] = expires.map { Int($0.secondsSince1970) }
            content.userInfo = ["sealed-push": members]
            try await phone.center.add(UNNotificationRequest(identifier: name, content: content, trigger: nil))
        }
        let pushes = phone.pushes()
        let now = Timestamp.now()
        let next = now.advanced(bySeconds: 3_600)
        let plan = "plan com.example.app.push-keys at \(next.secondsSince1970 + 601)"
        try await show("never", expires: nil)
        try await show("soon", expires: next)
        try await show("later", expires: next.advanced(bySeconds: 60))
        let calls: [@MainActor () async -> Void] = [
            { await pushes.becameActive() }, { await pushes.refresh() },
            { _ = await pushes.didReceive(["custom-encrypted-message": "AQ"]) },
        ]
        for call in calls {
            try await show("expired", expires: now.advanced(bySeconds: -601))
            phone.forgetCalls()
            await call()
            #expect(phone.center.notifications.map(\.request.identifier) == ["never", "soon", "later"])
            #expect(phone.calls.filter { $0.contains(" at ") } == [plan])
        }
    }

    @Test("a tap on a generic notification gets the message's data") func generic() async throws {
        let pushes = phone.pushes()
        let threads = Locked<[JSONValue?]>([])
        pushes.onTap = { message, _ in threads.withLock { $0.append(message.data?["thread"]) } }
        await respond(response(to: try phone.generic(lunch())), pushes)
        #expect(threads.withLock { $0 } == ["lunch"])
    }

    @Test("a tapped push from before the first unlock is opened from the tap itself, which the system waits for")
    func taps() async throws {
        let pushes = phone.pushes()
        let handled = Locked<[String]>([])
        pushes.onTap = { message, response in
            handled.withLock { $0.append("\(message.data?["thread"]?.string ?? "") \(response.actionIdentifier)") }
        }
        let tapped = response(to: try phone.locked(lunch()))
        await respond(tapped, pushes)
        #expect(handled.withLock { $0 } == ["lunch \(UNNotificationDefaultActionIdentifier)"])
        // A carrier's push, and a message that didn't open.
        let infos: [[AnyHashable: Any]] = [
            ["aps": [:], "sealed-push": ["outcome": "opened"]],
            ["sealed-push": ["outcome": "safe-default", "reason": "replayed"]],
        ]
        for info in infos {
            let other = UNMutableNotificationContent()
            other.userInfo = info
            await respond(response(to: other), pushes)
        }
        #expect(handled.withLock { $0 }.count == 1)
    }
}
