import Dispatch
import Foundation
import PushCore
import PushSender
import PushServiceTesting
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

#if !canImport(Darwin)
@Suite("Several accounts on one phone", .blocking) struct AccountTests {
    private let phone: AccountPhone
    private let one = AccountServer(host: "one.example")
    private let two = AccountServer(host: "two.example")

    init() throws { phone = try AccountPhone() }

    // MARK: Messages

    @Test(
        "Messages of three accounts on two servers, interleaved, each open once, and none for an account that was removed"
    )
    func interleaved() async throws {
        let nina = try await phone.add("nina", at: one)
        let omar = try await phone.add("omar", at: two)
        let work = try await phone.add("work", at: one)
        let names = [AccountName("nina"), "omar", "work"]
        #expect(try await phone.accounts.names() == names)
        let late = try one.seal("late", to: nina)
        for round in 0..<6 {
            for (index, device) in [nina, omar, work].enumerated() {
                let (server, name) = ([one, two, one][index], names[index])
                let isGone = round >= 3 && name == "nina"
                let field = try server.seal("\(name) \(round)", to: device)
                let shown = await phone.show(field, as: "\(name)-\(round)")
                #expect(shown.body == (isGone ? "local default" : "\(name) \(round)"))
                #expect(shown.account == (isGone ? nil : name))
                // Each account's ledger refuses a copy.
                let copy = await phone.show(field)
                #expect(copy.reason == (isGone ? OpenError.unknownRecipient : .replayed))
            }
            if round == 2 { try await phone.accounts.remove("nina") }
        }
        #expect(phone.list.filter { $0.hasPrefix("nina-") && $0 < "nina-3" } == [])
        #expect(phone.list.filter { $0.hasPrefix("omar-") || $0.hasPrefix("work-") }.count == 12)
        #expect(await phone.show(late).reason == .unknownRecipient)
        #expect(try await phone.accounts.names() == ["omar", "work"] && phone.folders.count == 2)
    }

    @Test("The account without a name works beside others, and has its own ledger, keys, and senders") func own()
        async throws
    {
        let own = try phone.enroll(phone.app())
        let nina = try await phone.add("nina", at: one)
        func seal(_ text: String, to device: Enrolled) throws -> String {
            try one.seal(Content(body: text), to: device, from: phone.own)
        }
        let shown = await phone.show(try seal("own", to: own))
        #expect(shown.body == "own" && shown.account == nil)
        #expect(await phone.show(try seal("x", to: nina)).reason == .unknownSender)
        #expect(await phone.show(try one.seal("x", to: own)).reason == .unknownSender)
        #expect(await phone.show(try one.seal("nina's", to: nina)).account == "nina")
        try await phone.accounts.remove("nina")
        #expect(await phone.show(try seal("still", to: own)).body == "still")
    }

    @Test("Without accounts that have names, a push costs the calls that it always did") func costs() async throws {
        let own = try phone.enroll(phone.app())
        let watched = WatchedItems(phone.items)
        let field = try one.seal(Content(body: "b"), to: own, from: phone.own)
        #expect(await phone.show(field, by: phone.app(watched)).body == "b")
        #expect(watched.counts.callCount == 2 && watched.counts.secretCount == 1)
    }

    @Test("With 32 accounts, only the items of the one that matches are read, and a 33rd is refused") func many()
        async throws
    {
        var devices: [Enrolled] = []
        for number in 0..<PushAccount.maximumCount {
            devices.append(try await phone.add(try #require(AccountName(parsing: "a\(number)")), at: one))
        }
        await #expect(throws: DeviceError.tooManyAccounts) { try await phone.accounts.add(two.account("more")) }
        #expect(try await phone.accounts.names().count == 32)
        // The same account again isn't another one.
        try await phone.accounts.add(one.account("a7"))
        await #expect(throws: DeviceError.accountExists) { try await phone.accounts.add(two.account("a7")) }
        let watched = WatchedItems(phone.items)
        let shown = await phone.show(try one.seal("b", to: devices[20]), by: phone.app(watched))
        #expect(shown.body == "b" && shown.account == "a20")
        // The key, the pins, one for the proof that no sender set is hidden, and the pins again, before and after it's shown.
        #expect(watched.counts.secretCount == 5)
        try await phone.accounts.remove("a3")
        try await phone.add("more", at: two)
        #expect(try await phone.accounts.names().count == 32)
    }

    @Test(
        "What matches no account shows the app's safe default; what matches one but doesn't open shows that account's")
    func safeDefaults() async throws {
        let account = one.account("nina", safeDefault: SafeDefault(title: "One", body: "news"))
        let nina = try phone.enroll(try await phone.accounts.add(account))
        let unknown = await phone.show(
            try Sealer(sender: one.sender, topic: AccountPhone.topic, safeDefault: "wire default")
                .seal(Content(body: "b"), toUnverified: DevicePrivateKey().recipient).envelope.text)
        #expect(unknown.title == "App" && unknown.account == nil && unknown.reason == .unknownRecipient)
        let stranger = await phone.show(try one.seal(Content(body: "b"), to: nina, from: SenderPrivateKey()))
        #expect(stranger.title == "One" && stranger.account == "nina" && stranger.reason == .unknownSender)
        #expect(await phone.show("garbage").title == "App")
    }

    @Test("If the keys of two accounts match a push, its sender decides whose it is") func bothMatch() async throws {
        let nina = try await phone.add("nina", at: one)
        let omar = try await phone.add("omar", at: two)
        // No two keys are the same, but two may have the same four bytes of a hint. One key in two accounts has the same effect.
        let id = try #require(omar.configuration.container.account)
        let ninas = try #require(nina.configuration.container.account)
        let item = try #require(phone.items.items().first { $0.account == "of \(ninas) key \(nina.key)" })
        try phone.items.add(
            SecretItem(account: "of \(id) key \(nina.key)", attributes: item.attributes, secret: item.secret))
        #expect(await phone.show(try two.seal("omar's", to: nina)).account == "omar")
        #expect(await phone.show(try one.seal("nina's", to: nina)).account == "nina")
        let stranger = await phone.show(try one.seal(Content(body: "b"), to: nina, from: SenderPrivateKey()))
        #expect(stranger.reason == .unknownSender && stranger.account == nil && stranger.title == "App")
        // Opened for one account, the message is refused for its content, and not tried for the other.
        var old = Content(body: "b")
        old.sent = Timestamp.now().advanced(bySeconds: -40 * 86_400)
        let refused = await phone.show(try two.seal(old, to: nina))
        #expect(refused.reason == .tooOld && refused.account == "omar")
    }

    @Test("A push before the first unlock shows the app's safe default, and later opens for its account") func locked()
        async throws
    {
        let nina = try await phone.add("nina", at: one)
        let field = try one.seal("later", to: nina)
        let locked = phone.app(WatchedItems(phone.items, .failing(.locked)))
        let shown = await phone.show(field, as: "one", by: locked)
        #expect(shown.reason == .locked && shown.account == nil && shown.title == "App")
        let notification = try #require(phone.center.notifications.first)
        // Another account's configuration can't open it, and leaves it alone.
        let ole = try await phone.add("ole", at: two)
        #expect(await ole.configuration.reopened(notification) == nil)
        let again = try #require(await phone.app().reopened(notification))
        #expect(Shown(again.content).body == "later" && Shown(again.content).account == "nina")
        #expect(phone.accounts.hasAny && !locked.accounts.hasAny)
        await #expect(throws: DeviceError.locked) { try await locked.accounts.add(two.account("omar")) }
        await #expect(throws: DeviceError.locked) { try await locked.accounts.remove("nina") }
        #expect(try await phone.accounts.names() == ["nina", "ole"])
    }

    @Test("An account's own configuration opens its messages only") func ownConfiguration() async throws {
        let nina = try await phone.add("nina", at: one)
        let omar = try await phone.add("omar", at: two)
        let field = try two.seal("omar's", to: omar)
        await #expect(throws: OpenError.unknownRecipient) {
            try await nina.configuration.open(envelope: field, requestIdentifier: "one")
        }
        let opened = try await omar.configuration.open(envelope: field, requestIdentifier: "one")
        #expect(opened.content.alert.body == "omar's")
        let found = try await omar.configuration.accounts.all().compactMap(\.account)
        #expect(found == [one.account("nina"), two.account("omar")])
    }

    // MARK: Speaking for another account

    @Test("A sender of one account can't write to another, whatever it writes") func speaks() async throws {
        let nina = try await phone.add("nina", at: one)
        let omar = try await phone.add("omar", at: two)
        var counting = Content(body: "b")
        counting.badgeIncrement = 3
        var setting = Content(body: "b")
        setting.badge = 9
        for content in [Content(body: "b"), counting, setting, Content(withdrawing: .thread("t"), isFiltered: true)] {
            let shown = await phone.show(try two.seal(content, to: nina))
            #expect(shown.reason == .unknownSender && shown.badge == nil)
        }
        await #expect(throws: OpenError.unknownSender) {
            try await phone.app().withdraw(envelope: try two.seal(Content(withdrawing: .thread("t")), to: nina))
        }
        #expect(try nina.badge.value == 0 && omar.badge.value == 0)
    }

    @Test("A withdrawal removes its own account's notifications only, even of a thread with the same name")
    func withdraws()
        async throws
    {
        let nina = try await phone.add("nina", at: one)
        let omar = try await phone.add("omar", at: two)
        let own = try phone.enroll(phone.app())
        let id = MessageID.random()
        var content = Content(body: "b")
        (content.threadID, content.id) = ("t", id)
        content.sent = Timestamp.now()
        await phone.show(try one.seal(content, to: nina), as: "nina")
        await phone.show(try two.seal(content, to: omar), as: "omar")
        await phone.show(try one.seal(content, to: own, from: phone.own), as: "own")
        #expect(phone.list == ["nina", "omar", "own"])
        func withdraw(_ target: Content.Withdrawal.Target, _ seal: (Content) throws -> String) async throws {
            var content = Content(withdrawing: target)
            content.sent = Timestamp.now().advanced(bySeconds: 5)
            #expect(try await phone.app().withdraw(envelope: try seal(content)) != nil)
        }
        try await withdraw(.message(id)) { try two.seal($0, to: omar) }
        #expect(phone.list == ["nina", "own"])
        // Nobody is a former sender of another account.
        try await withdraw(.thread("t")) { try one.seal($0, to: own, from: phone.own) }
        #expect(phone.list == ["nina"])
        try await withdraw(.thread("t", and: id)) { try two.seal($0, to: omar) }
        #expect(phone.list == ["nina"])
        try await withdraw(.thread("t")) { try one.seal($0, to: nina) }
        #expect(phone.list == [])
    }

    @Test("Each account has its own count, and the icon shows the sum") func badges() async throws {
        let nina = try await phone.add("nina", at: one)
        let omar = try await phone.add("omar", at: two)
        func show(_ change: (inout Content) -> Void, _ server: AccountServer, _ device: Enrolled) async throws -> Int? {
            var content = Content(body: "b")
            change(&content)
            return await phone.show(try server.seal(content, to: device)).badge
        }
        #expect(try await show({ $0.badgeIncrement = 2 }, one, nina) == 2)
        #expect(try await show({ $0.badgeIncrement = 3 }, two, omar) == 5)
        #expect(try await show({ $0.badge = 1 }, one, nina) == 4)
        #expect(try await show({ $0.badgeIncrement = 1 }, one, nina) == 5)
        #expect(try nina.badge.value == 2 && omar.badge.value == 3)
        #expect(try await phone.accounts.badge() == 5)
        var withdrawal = Content(withdrawing: .thread("t"))
        withdrawal.badge = 0
        try await phone.app().withdraw(envelope: try two.seal(withdrawal, to: omar))
        #expect(phone.center.takeChanges().badge == 2)
        try await phone.accounts.remove("nina")
        #expect(try await phone.accounts.badge() == 0)
    }

    @Test("An account's rules mute its own threads, and the app's hours and servers count for all") func mutes()
        async throws
    {
        let devices = [try await phone.add("nina", at: one), try await phone.add("omar", at: two)]
        func areQuiet() async throws -> [Bool] {
            var quiet: [Bool] = []
            for (device, server) in zip(devices, [one, two]) {
                var content = Content(body: "b")
                (content.threadID, content.sound) = ("general", .named("default"))
                await phone.show(
                    try server.seal(content, to: device), as: "shown", by: phone.app(stages: [MuteStage(.quiet)]))
                quiet.append(phone.center.notifications.first?.request.content.sound == nil)
            }
            return quiet
        }
        #expect(try await areQuiet() == [false, false])
        var rules = MuteRules()
        rules.threads = ["general": .always]
        try rules.save(in: try devices[0].folder, at: .now())
        #expect(try await areQuiet() == [true, false])
        // Threads in the app's own file are those of the account without a name.
        try rules.save(in: phone.folder.appending("SealedPush"), at: .now())
        #expect(try await areQuiet() == [true, false])
        rules.threads = [:]
        rules.senders = [two.sender.sender: .always]
        try rules.save(in: phone.folder.appending("SealedPush"), at: .now())
        #expect(try await areQuiet() == [true, true])
    }

    @Test("A contact is asked for with its account, and conversations of two accounts differ") func contacts()
        async throws
    {
        let devices = [try await phone.add("nina", at: one), try await phone.add("omar", at: two)]
        let stage = ContactStage { id, account in
            account == "nina" && id == "user-1" ? Contact(identifier: "ABC:ABPerson", name: "Nina N.") : nil
        }
        var shown: [CommunicationSender?] = []
        for (device, server) in zip(devices, [one, two]) {
            var content = Content(title: "Nina", body: "b")
            content.person = Content.Person(name: "Nina", id: "user-1")
            await phone.show(try server.seal(content, to: device), as: "shown", by: phone.app(stages: [stage]))
            shown.append(phone.center.notifications.first?.request.content.communication)
        }
        #expect(shown.map { $0?.contact } == ["ABC:ABPerson", nil])
        #expect(shown.map { $0?.name } == ["Nina N.", "Nina"])
        let conversations = shown.map { $0?.conversation ?? "" }
        #expect(Set(conversations).count == 2 && conversations.allSatisfy { $0.hasSuffix(" user-1") })
    }

    @Test("A sender set replaces one account's senders, and another account doesn't accept it") func senderSets()
        async throws
    {
        let nina = try await phone.add("nina", at: one)
        // An account at the same server, whose authority is the same.
        let work = try await phone.add("work", at: one)
        let omar = try await phone.add("omar", at: two)
        let next = SenderPrivateKey()
        let now = Timestamp.now()
        let set = try SenderSet(
            of: [next.sender], topic: AccountPhone.topic, counter: 1, created: now,
            expires: now.advanced(bySeconds: 86_400), signedBy: one.authority)
        try await nina.configuration.device.accept(senderSet: set.description)
        await #expect(throws: DeviceError.record(.foreignSigner)) {
            try await omar.configuration.device.accept(senderSet: set.description)
        }
        #expect(await phone.show(try one.seal(Content(body: "next"), to: nina, from: next)).account == "nina")
        #expect(await phone.show(try one.seal("b", to: nina)).reason == .unknownSender)
        for (device, server) in [(work, one), (omar, two)] {
            let shown = await phone.show(try server.seal(Content(body: "b"), to: device, from: next))
            #expect(shown.reason == .unknownSender)
            #expect(await phone.show(try server.seal("still", to: device)).body == "still")
        }
    }

    @Test(
        "A receipt waits in its account's folder, for its account's server only, and takes no other account's failures")
    func receipts() async throws {
        let own = try phone.enroll(phone.app())
        let nina = try await phone.add("nina", at: one)
        let omar = try await phone.add("omar", at: two)
        let app = phone.app(stages: [ReceiptStage(hosts: [])])
        func show(_ url: String) async throws {
            await phone.show(try one.seal(Content(body: "b"), to: nina, receipts: url), by: app)
        }
        try await show("https://two.example/receipts")
        #expect(try nina.receipts.waiting().isEmpty && omar.receipts.waiting().isEmpty)
        // Failures of one account, and of none.
        await phone.show(try two.seal(Content(body: "b"), to: omar, from: SenderPrivateKey()), by: app)
        await phone.show("garbage", by: app)
        try await show("https://one.example/receipts")
        #expect(try nina.receipts.waiting().count == 1 && omar.receipts.waiting().isEmpty)
        #expect(try own.receipts.waiting().isEmpty)
        for device in [own, omar] {
            let failures = try device.receipts.folder.appending(path: "failures")
            #expect(try Data(contentsOf: failures).count == 1)
        }
        let name = try #require(try nina.receipts.waiting().first)
        let body = try #require(try nina.receipts.receipt(named: name)).body
        let key = ReceiptKey(of: one.sender, for: AccountPhone.topic)
        #expect(try ReceiptReceiver(keys: [key]).receive(body, at: .now()).failures == [:])
    }

    // MARK: Faults

    enum Damage: CaseIterable { case ledger, folder, pins, number, badge }

    @Test("A fault of one account's files or items doesn't affect another", arguments: Damage.allCases)
    func damaged(_ damage: Damage) async throws {
        let nina = try await phone.add("nina", at: one)
        let omar = try await phone.add("omar", at: two)
        let folder = try nina.folder
        let expected: OpenError?
        switch damage {
        case .ledger:
            try FileManager.default.removeItem(at: folder.appending(path: "ledger"))
            try Data().write(to: folder.appending(path: "ledger"))
            expected = .ledgerUnavailable
        case .folder:
            try FileManager.default.removeItem(at: folder)
            try Data().write(to: folder)
            expected = .ledgerUnavailable
        case .pins:
            let item = try #require(phone.items.items().first { $0.account == "account nina" })
            try phone.items.remove(account: "account nina")
            let secret = Array("{}".utf8).withUnsafeBytes { ItemSecret(copying: $0) }
            try phone.items.add(SecretItem(account: "account nina", attributes: item.attributes, secret: secret))
            expected = .keysUnavailable
        case .number:
            let item = try #require(phone.items.items().first { $0.account == "account nina" })
            try phone.items.replace(item.listed, attributes: Array("{}".utf8))
            expected = .unknownRecipient
        case .badge:
            try Data().write(to: folder.appending(path: "badge"))
            expected = nil
        }
        var counting = Content(body: "b")
        counting.badgeIncrement = 2
        let shown = await phone.show(try one.seal(counting, to: nina))
        #expect(shown.reason == expected && shown.badge == nil)
        let other = await phone.show(try two.seal(counting, to: omar))
        #expect(other.body == "b" && other.account == "omar" && other.badge == 2)
        // Nothing of an account whose number isn't known is taken for a stray.
        let count = phone.items.items().count
        try await phone.accounts.tidy()
        #expect(phone.items.items().count == count)
        guard damage != .number else { return }
        #expect(try await phone.accounts.names() == ["nina", "omar"])
        try await phone.accounts.remove("nina")
        #expect(phone.items.items().allSatisfy { !$0.account.contains("nina") } && phone.folders.count == 1)
        #expect(await phone.show(try two.seal("still", to: omar)).body == "still")
    }

    @Test("A removal at any moment of an opening leaves neither a notification nor a key") func races() async throws {
        let counted = WatchedItems(phone.items)
        let nina = try await phone.add("nina", at: one)
        #expect(await phone.show(try one.seal("b", to: nina), by: phone.app(counted)).body == "b")
        let callCount = counted.counts.callCount
        #expect(callCount == 8)
        for moment in 0..<callCount {
            let phone = try AccountPhone()
            let nina = try await phone.add("nina", at: one)
            let omar = try await phone.add("omar", at: two)
            await phone.show(try two.seal("stays", to: omar), as: "omar")
            let accounts = phone.accounts
            let watch = WatchedItems.Watch(beforeCall: { number, _ in
                guard number == moment else { return }
                let done = DispatchSemaphore(value: 0)
                Task.detached {
                    try? await accounts.remove("nina")
                    done.signal()
                }
                done.wait()
            })
            let shown = await phone.show(
                try one.seal("secret", to: nina), as: "nina", by: phone.app(WatchedItems(phone.items, watch)))
            // Before the last call, the extension notices in time.
            #expect((shown.body == "secret") == (moment == callCount - 1), "\(moment)")
            let bodies = phone.center.notifications.map(\.request.content.body)
            #expect(!bodies.contains("secret"), "\(moment)")
            #expect(phone.list.contains("omar"))
            #expect(try await phone.accounts.names() == ["omar"])
            // What the opening has made anew belongs to no account.
            try await phone.accounts.tidy()
            #expect(phone.folders.count == 1, "\(moment)")
            let id = try #require(nina.configuration.container.account)
            #expect(phone.items.items().allSatisfy { !$0.account.contains(id.description) }, "\(moment)")
        }
    }

    @Test("A removal that is killed between two writes is finished later, and nothing opens meanwhile") func kills()
        async throws
    {
        var isDone = false
        var moment = 0
        while !isDone {
            let phone = try AccountPhone()
            let nina = try await phone.add("nina", at: one)
            let omar = try await phone.add("omar", at: two)
            let last = moment
            let watch = WatchedItems.Watch(afterWrite: { number throws(SecretItemError) in
                if number >= last { throw .other(-1) }
            })
            isDone = (try? await phone.app(WatchedItems(phone.items, watch)).accounts.remove("nina")) != nil
            #expect(await phone.show(try one.seal("b", to: nina)).reason == .unknownRecipient, "\(moment)")
            #expect(try await phone.accounts.names() == ["omar"], "\(moment)")
            // The name is free at once.
            let again = try await phone.add("nina", at: two)
            try await phone.accounts.tidy()
            let id = try #require(nina.configuration.container.account)
            #expect(phone.items.items().allSatisfy { !$0.account.contains(id.description) }, "\(moment)")
            #expect(phone.folders.count == 2, "\(moment)")
            #expect(await phone.show(try one.seal("b", to: nina)).reason == .unknownRecipient, "\(moment)")
            #expect(await phone.show(try two.seal("new", to: again)).account == "nina", "\(moment)")
            #expect(await phone.show(try two.seal("still", to: omar)).account == "omar", "\(moment)")
            moment += 1
        }
        // The note, the account, a key, the enrollment, and the note again.
        #expect(moment >= 5)
    }

    @Test("Strays of an account that doesn't exist are removed, and other items and files are left alone") func strays()
        async throws
    {
        let nina = try await phone.add("nina", at: one)
        let id = AccountID()
        let secret = [1 as UInt8].withUnsafeBytes { ItemSecret(copying: $0) }
        for account in ["of \(id) key x", "of nobody key x", "of ", "account", "other"] {
            try phone.items.add(SecretItem(account: account, attributes: Array("{}".utf8), secret: secret))
        }
        let root = phone.folder.appending("SealedPush/accounts")
        for name in ["\(id)", "\(AccountID())", "else"] {
            try FileManager.default.createDirectory(at: root.appending(path: name), withIntermediateDirectories: true)
        }
        let shown = UNMutableNotificationContent()
        shown.userInfo = ["sealed-push": ["outcome": "opened", "account": "x", "account-number": "\(id)"]]
        try await phone.center.add(UNNotificationRequest(identifier: "stray", content: shown, trigger: nil))
        try await phone.center.add(
            UNNotificationRequest(identifier: "other", content: UNMutableNotificationContent(), trigger: nil))
        await phone.show(try one.seal("b", to: nina), as: "nina")
        try await phone.accounts.tidy()
        #expect(phone.list == ["other", "nina"] && phone.folders.contains("else") && phone.folders.count == 2)
        let names = phone.items.items().map(\.account)
        #expect(!names.contains("of \(id) key x") && Set(["of nobody key x", "of ", "other"]).isSubset(of: names))
    }

    // MARK: Pins

    @Test("An account's pins are read as they were added, and a part that isn't valid spoils all of them") func pins()
        throws
    {
        let id = AccountID()
        let full = PushAccount(
            "nina@one.example", server: URL(string: "https://one.example:8443/push")!, service: "staging",
            trusting: [one.sender.sender, two.sender.sender], authorities: [one.authority.authority],
            safeDefault: SafeDefault(title: "One", body: "", playsSound: false))
        for account in [full, one.account("omar")] {
            let bytes = account.json(id)
            #expect(bytes.withUnsafeBytes { PushAccount(parsing: $0, of: id) } == account)
            #expect(bytes.withUnsafeBytes { PushAccount(parsing: $0, of: AccountID()) } == nil)
        }
        let text = String(decoding: full.json(id), as: UTF8.self)
        for (part, other) in [
            (one.authority.authority.description, "pushauthority1..."), ("nina@one.example", "nina one"),
            ("\"staging\"", "\"sta ging\""), ("\"senders\"", "\"others\""), (one.sender.sender.description, "x"),
        ] {
            let damaged = text.replacing(part, with: other)
            #expect(damaged != text)
            #expect(Array(damaged.utf8).withUnsafeBytes { PushAccount(parsing: $0, of: id) } == nil, "\(part)")
        }
    }

    @Test("An account without a sender, or with too much, is refused before anything is stored") func unusable()
        async throws
    {
        let server = URL(string: "https://one.example")!
        let senders = (0..<17).map { _ in SenderPrivateKey().sender }
        let long = SafeDefault(body: String(repeating: "x", count: 4_097))
        for account in [
            PushAccount("a", server: server, trusting: []), PushAccount("a", server: server, trusting: senders),
            PushAccount("a", server: server, trusting: [senders[0]], safeDefault: long),
        ] {
            await #expect(throws: DeviceError.unusableAccount) { try await phone.accounts.add(account) }
        }
        #expect(phone.items.items().isEmpty)
    }

    @Test(
        "A name is 1 to 128 visible ASCII characters",
        arguments: [
            ("nina", true), ("@nina:one.example", true), ("", false), ("a b", false), ("a\n", false), ("é", false),
            (String(repeating: "x", count: 128), true), (String(repeating: "x", count: 129), false),
        ])
    func names(text: String, isName: Bool) {
        #expect((AccountName(parsing: text)?.description == text) == isName)
    }

    @Test("An account's files have the protection of the app's own") func protects() async throws {
        let classes = Locked<[String: FileProtection]>([:])
        let system = FileProtection.System(
            current: { path in classes.withLock { $0[path] } },
            set: { protection, path in classes.withLock { $0[path] = protection } })
        try await FileProtection.$system.withValue(system) { try await phone.add("nina", at: one) }
        let known = classes.withLock { $0 }
        let own = known.filter { $0.key.contains("/accounts/") }
        // The folder of all accounts, this one's, and its ledger.
        #expect(own.count == 3, "\(known)")
        for (path, protection) in own {
            #expect((protection == .fromFirstUnlock) == path.hasSuffix("/ledger/"), "\(path)")
        }
    }
}
#endif
