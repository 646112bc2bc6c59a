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

@Suite("An app whose accounts have names", .blocking) @MainActor struct AccountsTests {
    private let phone: AppPhone
    private let servers = Servers()

    init() throws { phone = try AppPhone(InMemorySecretItems()) }

    private func account(_ name: AccountName, at host: String) -> PushAccount {
        PushAccount(name, server: URL(string: "https://\(host)")!, trusting: [SenderPrivateKey().sender])
    }

    /// The requests since the last call, without those for sender sets.
    private func requests() -> [String] {
        servers.requests.withLock { requests in
            defer { requests = [] }
            return requests.sorted()
        }
    }

    /// Adds a notification of an account.
    private func show(_ identifier: String, of name: AccountName) async throws {
        let known = try await configuration(of: name)
        let content = UNMutableNotificationContent()
        content.userInfo = [
            "sealed-push": [
                "outcome": "opened", "account": name.description,
                "account-number": try #require(known.container.account).description,
            ]
        ]
        try await phone.center.add(UNNotificationRequest(identifier: identifier, content: content, trigger: nil))
    }

    private func configuration(of name: AccountName) async throws -> ServiceConfiguration {
        try #require(try await phone.configuration().accounts.all().first { $0.account?.name == name })
    }

    private var shown: [String] { phone.center.notifications.map(\.request.identifier) }

    @Test("each account registers at its own server with its own login, and one token serves all") func registers()
        async throws
    {
        let pushes = phone.accounts(servers)
        await pushes.launched()
        #expect(pushes.status == .loggedOut && pushes.accounts.isEmpty && phone.calls == [])
        let nina = try await pushes.add(account("nina", at: "one.example"), session: "n")
        let omar = try await pushes.add(account("omar", at: "two.example"), session: "o")
        #expect(nina.status == .waitingForToken && pushes.accounts["omar"] === omar)
        #expect(phone.calls == ["register", "register"] && requests() == [])
        await pushes.took(token: Data([1]))
        let registered = PushStatus.registered(device: "d", isOverdue: false)
        #expect(nina.status == registered && omar.status == registered && pushes.status == .loggedOut)
        #expect(requests() == ["PUT one.example Bearer nina n", "PUT two.example Bearer omar o"])
        // A third one registers at once, with the same token.
        let work = try await pushes.add(account("work", at: "one.example"), session: "w")
        #expect(work.status == registered && requests() == ["PUT one.example Bearer work w"])

        // The next process knows them, and asks for a token once.
        phone.forgetCalls()
        let next = phone.accounts(servers)
        await next.launched()
        #expect(next.accounts.keys.sorted() == ["nina", "omar", "work"] && phone.calls == ["register"])
        #expect(next.accounts.values.allSatisfy { $0.status == .waitingForToken })
        await next.refresh()
        #expect(next.accounts.values.allSatisfy { $0.status == registered })
        #expect(requests().count == 3)
    }

    @Test("removing an account tells its server and leaves nothing of it, and the others stay") func removes()
        async throws
    {
        let pushes = phone.accounts(servers)
        await pushes.took(token: Data([1]))
        let nina = try await pushes.add(account("nina", at: "one.example"), session: "n")
        let omar = try await pushes.add(account("omar", at: "two.example"), session: "o")
        for (name, count) in [(AccountName("nina"), 2), ("omar", 3)] {
            try await show("\(name)'s", of: name)
            let folder = try #require(try await configuration(of: name).folder)
            try BadgeCount(in: folder).set(count)
        }
        _ = requests()
        phone.forgetCalls()
        try await pushes.remove("nina")
        #expect(requests() == ["POST one.example "] && pushes.accounts.keys.sorted() == ["omar"])
        #expect(shown == ["omar's"] && phone.center.takeChanges().badge == 3)
        #expect(!phone.calls.contains("unregister"))
        #expect(try phone.itemNames.filter { $0.hasPrefix("account ") || $0.hasPrefix("left ") } == ["account omar"])
        // What the app still holds of it does nothing.
        await nina.logIn("again")
        #expect(requests() == [] && nina.status != .registered(device: "d", isOverdue: false))
        try await pushes.remove("nina")
        // The last one takes the token with it.
        try await omar.remove("omar")
        #expect(phone.calls.contains("unregister") && pushes.accounts.isEmpty && shown == [])
        #expect(try phone.itemNames == [])
        #expect(try phone.storage.saved.accounts == nil)
    }

    @Test(
        "a removal without a network destroys the keys at once, and a later launch tells the server, even if killed between"
    )
    func offline() async throws {
        let pushes = phone.accounts(servers)
        await pushes.took(token: Data([1]))
        try await pushes.add(account("nina", at: "one.example"), session: "n")
        try await pushes.add(account("omar", at: "two.example"), session: "o")
        let keys = try phone.itemNames.filter { $0.contains(" key ") }
        #expect(keys.count == 2)
        servers.isOnline.withLock { $0 = false }
        try await pushes.remove("nina")
        #expect(pushes.accounts.keys.sorted() == ["omar"])
        #expect(try phone.itemNames.filter { $0.hasPrefix("account ") } == ["account omar"])
        // Killed right after the keychain has changed.
        _ = try await phone.configuration().accounts.leave("omar")
        #expect(try phone.itemNames.filter { $0.hasPrefix("left ") }.count == 2)
        #expect(try Set(phone.itemNames).isDisjoint(with: keys))
        // The name is free meanwhile.
        try await pushes.add(account("nina", at: "two.example"), session: "m")
        _ = requests()
        servers.isOnline.withLock { $0 = true }
        let next = phone.accounts(servers)
        await next.launched()
        #expect(requests() == ["POST one.example ", "POST two.example "])
        #expect(next.accounts.keys.sorted() == ["nina"])
        #expect(try phone.itemNames.filter { $0.hasPrefix("account ") || $0.hasPrefix("left ") } == ["account nina"])
        await next.refresh()
        #expect(next.accounts["nina"]?.status == .registered(device: "d", isOverdue: false))
    }

    @Test("a logout of one account, with or without a name, touches no other") func logsOut() async throws {
        let pushes = phone.pushes()
        await pushes.logIn("own")
        let nina = try await pushes.add(account("nina", at: "one.example"), session: "n")
        try await show("nina's", of: "nina")
        let own = UNNotificationRequest(identifier: "own", content: UNMutableNotificationContent(), trigger: nil)
        let locked = UNNotificationRequest(
            identifier: "locked", content: try phone.locked(Content(body: "b")), trigger: nil)
        let hidden = UNMutableNotificationContent()
        hidden.userInfo = [
            "sealed-push": [
                "outcome": "opened", "id": "\(MessageID.random())", "disclosure": "generic", "envelope": "AQ",
            ]
        ]
        let generic = UNNotificationRequest(identifier: "generic", content: hidden, trigger: nil)
        for request in [own, locked, generic] { try await phone.center.add(request) }
        phone.forgetCalls()
        await pushes.logOut()
        #expect(shown == ["nina's", "locked"] && !phone.calls.contains("unregister"))
        #expect(nina.status == .waitingForToken)
        await nina.logOut()
        #expect(shown == ["locked"] && phone.calls.contains("unregister"))
        #expect(pushes.accounts["nina"] === nina)
        await nina.logIn("again")
        #expect(nina.status == .waitingForToken)
    }

    @Test("an account that can't be added is reported and changes nothing, and the same one again only logs in")
    func refuses()
        async throws
    {
        let pushes = phone.accounts(servers)
        let nina = account("nina", at: "one.example")
        let first = try await pushes.add(nina, session: "n")
        let again = try await pushes.add(nina, session: "m")
        #expect(first === again)
        await #expect(throws: DeviceError.accountExists) {
            try await pushes.add(account("nina", at: "one.example"), session: "n")
        }
        for number in 1..<PushAccount.maximumCount {
            try await phone.configuration().accounts.add(
                account(try #require(AccountName(parsing: "a\(number)")), at: "one.example"))
        }
        await #expect(throws: DeviceError.tooManyAccounts) {
            try await pushes.add(account("more", at: "one.example"), session: "x")
        }
        #expect(pushes.accounts.keys.sorted() == ["nina"])
        await pushes.launched()
        #expect(pushes.accounts.count == 32)
    }

    @Test("before the first unlock, no account is lost, and they are found later") func locked() async throws {
        let items = InMemorySecretItems()
        let gate = Locked(true)
        let phone = try AppPhone(GatedItems(items: items, isOpen: gate))
        let pushes = phone.accounts(servers)
        try await pushes.add(account("nina", at: "one.example"), session: "n")
        gate.withLock { $0 = false }
        phone.storage.state.withLock { $0 = .locked }
        let next = phone.accounts(servers)
        await next.launched()
        #expect(next.accounts.isEmpty)
        await #expect(throws: DeviceError.locked) {
            try await next.add(account("omar", at: "one.example"), session: "o")
        }
        await #expect(throws: DeviceError.locked) { try await next.remove("nina") }
        gate.withLock { $0 = true }
        phone.storage.state.withLock { $0 = .works }
        phone.forgetCalls()
        await next.becameActive()
        #expect(next.accounts["nina"]?.status == .waitingForToken && phone.calls == ["register"])
    }
}

/// Servers that take every registration and leaving.
private struct Servers: Fetching {
    let isOnline = Locked(true)
    /// The method, the host, and the login.
    let requests = Locked<[String]>([])

    func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer {
        guard isOnline.withLock({ $0 }) else { throw .network }
        if request.method != "GET" {
            let line = "\(request.method) \(request.url.host() ?? "") \(request.authorization ?? "")"
            requests.withLock { $0.append(line) }
        }
        let answer = FetchAnswer(status: request.method == "PUT" ? 200 : 204) { _ in nil }
        guard request.method == "PUT", try request.wantsBody(answer) else { return answer }
        let body = Array(#"{"device":"d","challenges":[]}"#.utf8)
        let taken = body.withUnsafeBytes { bytes in Result { () throws(MediaError) in try request.take(bytes) } }
        try taken.get()
        return answer
    }
}

/// A keychain that is locked until the test opens it.
private struct GatedItems: SecretItems {
    let items: InMemorySecretItems
    let isOpen: Locked<Bool>

    private func unlocked() throws(SecretItemError) -> InMemorySecretItems {
        guard isOpen.withLock({ $0 }) else { throw .locked }
        return items
    }

    func list() throws(SecretItemError) -> [ListedItem] { try unlocked().list() }
    func secret(account: String) throws(SecretItemError) -> ItemSecret { try unlocked().secret(account: account) }
    func add(_ item: SecretItem) throws(SecretItemError) { try unlocked().add(item) }
    func replace(_ item: ListedItem, attributes: [UInt8]) throws(SecretItemError) {
        try unlocked().replace(item, attributes: attributes)
    }
    func remove(account: String) throws(SecretItemError) { try unlocked().remove(account: account) }
}
