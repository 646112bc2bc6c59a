import Foundation
import PushCore
import PushSender
import PushServiceTesting
import SealedPush
import TestSupport
import Testing

@testable import PushService

@Suite("A device's own keys") struct OwnDeviceTests {
    private let phone: Phone
    private let start = Phone.start
    private let day: Int64 = 86_400

    init() throws { phone = try Phone() }

    private func later(_ seconds: Int64) -> Timestamp { start.advanced(bySeconds: seconds) }

    /// Returns the counter of a record signed at that time, hours after the previous one.
    private func counter(_ now: Timestamp) -> UInt64 { UInt64(now.secondsSince1970) }

    @Test(
        "The first call begins the ledger, then makes an enrollment key, a key, and a record; later ones don't"
    ) func enroll() throws {
        let record = try phone.device.enroll(at: start)
        #expect(record.recipients.count == 1)
        #expect(record.counter == counter(start))
        #expect(record.topic == Phone.topic)
        #expect(record.expires == later(400 * day))
        #expect(try phone.ledger.floor() == later(-1))
        #expect(!phone.ledger.asksForNewKey)
        #expect(try phone.device.enroll(at: later(5)) == record)
        #expect(try phone.device.maintain(at: later(6)).record == record)
        try record.check(pinned: record.enrollment, topic: Phone.topic, replacing: nil, at: start)
        let opened = try phone.open(try phone.seal(to: record.recipients[0], sent: later(9)), at: later(9))
        #expect(opened.recipient == record.recipients[0])
    }

    @Test("Without a ledger, no key is made") func noLedger() throws {
        try phone.folder.write("", to: "SealedPush")
        #expect(throws: DeviceError.noLedger) { try phone.device.enroll(at: start) }
        #expect(try phone.stored.keys.isEmpty)
    }

    @Test("A rotation makes a second key beside the first, and a third only once the second is confirmed")
    func rotate() throws {
        let first = try phone.device.enroll(at: start)
        let both = try phone.device.rotate(at: later(day))
        #expect(both.recipients.count == 2)
        #expect(both.recipients[1] == first.recipients[0])
        #expect(both.counter == counter(later(day)))
        #expect(both.enrollment == first.enrollment)
        for recipient in both.recipients {
            _ = try phone.open(try phone.seal(to: recipient, sent: later(day)), at: later(day))
        }
        #expect(throws: DeviceError.unconfirmed) { try phone.device.rotate(at: later(2 * day)) }
        let waiting = try phone.device.maintain(at: later(day + 45 * day))
        #expect(waiting.waitingSince == later(day))
        #expect(!waiting.isOverdue)
        #expect(try phone.device.maintain(at: later(day + 45 * day + 1)).isOverdue)

        phone.markers.mark(both.recipients[0], at: later(46 * day))
        let done = try phone.device.maintain(at: later(47 * day))
        #expect(done.confirmed == [both.recipients[0]])
        #expect(done.retired == [both.recipients[1]])
        #expect(done.record.recipients == [both.recipients[0]])
        #expect(done.record.counter == counter(later(47 * day)))
        #expect(done.waitingSince == nil && !done.isOverdue)
        #expect(try phone.device.rotate(at: later(47 * day)).recipients.count == 2)
    }

    @Test("The old key retires at the first message under the new one, not at the app's next launch")
    func retirement() throws {
        let old = try phone.device.enroll(at: start).recipients[0]
        let new = try phone.device.rotate(at: later(day)).recipients[0]
        phone.markers.mark(new, at: later(2 * day))
        // A second message makes no difference.
        phone.markers.mark(new, at: later(3 * day))
        _ = try phone.device.maintain(at: later(9 * day))
        let limit = 2 * day + 7_200
        _ = try phone.open(try phone.seal(to: old, sent: later(limit)), at: later(10 * day))
        let late = try phone.seal(to: old, sent: later(limit + 1))
        #expect(throws: OpenError.keyRetired) { try phone.open(late, at: later(10 * day)) }
        _ = try phone.open(try phone.seal(to: new, sent: later(limit + 1)), at: later(10 * day))
    }

    @Test("A key and its marker are erased 31 days after its retirement, and not a second earlier")
    func erasure() throws {
        let old = try phone.device.enroll(at: start).recipients[0]
        phone.markers.mark(old, at: later(10))
        let new = try phone.device.rotate(at: later(day)).recipients[0]
        phone.markers.mark(new, at: later(2 * day))
        _ = try phone.device.maintain(at: later(2 * day))
        #expect(try phone.device.maintain(at: later(33 * day - 1)).erased.isEmpty)
        #expect(try phone.stored.keys.count == 2)
        let done = try phone.device.maintain(at: later(33 * day))
        #expect(done.erased == [old])
        #expect(try phone.stored.keys.map(\.recipient) == [new])
        #expect(phone.markers.time(of: old, at: start) == nil)
        #expect(phone.markers.time(of: new, at: later(99 * day)) == later(2 * day))
        let envelope = try phone.seal(to: old, sent: later(day))
        #expect(throws: OpenError.unknownRecipient) { try phone.open(envelope, at: later(33 * day)) }
    }

    @Test("If the keychain outlived the container, one new key is made, unless another one is waiting")
    func lostLedger() throws {
        let first = try phone.device.enroll(at: start)
        try FileManager.default.removeItem(at: phone.folder.appending("SealedPush"))
        let opening = PushOpening(phone.configuration, environment: .system)
        let field = try phone.seal(to: first.recipients[0], sent: .now()).text
        _ = opening.present(field: field, requestIdentifier: "one")
        #expect(phone.ledger.asksForNewKey)
        let done = try phone.device.maintain(at: later(day))
        #expect(done.rotated == done.record.recipients[0])
        #expect(done.record.recipients.count == 2)
        #expect(!phone.ledger.asksForNewKey)
        #expect(try phone.device.maintain(at: later(day)).rotated == nil)

        try FileManager.default.removeItem(at: phone.folder.appending("SealedPush"))
        _ = opening.present(field: field, requestIdentifier: "one")
        #expect(try phone.device.maintain(at: later(2 * day)).rotated == nil)
        #expect(phone.ledger.asksForNewKey)
        phone.markers.mark(done.record.recipients[0], at: later(3 * day))
        #expect(try phone.device.maintain(at: later(3 * day)).rotated != nil)
        #expect(!phone.ledger.asksForNewKey)
    }

    @Test("Revoking destroys every key at once, and a new one takes their place") func revoke() throws {
        let first = try phone.device.enroll(at: start).recipients[0]
        let second = try phone.device.rotate(at: later(1)).recipients[0]
        let record = try phone.device.revoke(at: later(2))
        #expect(record.recipients.count == 1)
        #expect(try phone.stored.keys.map(\.recipient) == record.recipients)
        for recipient in [first, second] {
            let envelope = try phone.seal(to: recipient, sent: later(1))
            #expect(throws: OpenError.unknownRecipient) { try phone.open(envelope, at: later(2)) }
        }
        _ = try phone.open(try phone.seal(to: record.recipients[0], sent: later(3)), at: later(3))
        // It replaces no key, so it doesn't wait.
        #expect(try phone.device.maintain(at: later(4)).waitingSince == nil)
    }

    @Test("The device answers only challenges of senders that it trusts now") func challenge() throws {
        let record = try phone.device.enroll(at: start)
        var server = try EnrolledDevice(pinning: record, topic: Phone.topic, at: start)
        let recipient = try #require(server.unproven.first)
        let challenge = PendingChallenge(
            to: recipient, of: server.enrollment, topic: Phone.topic, from: phone.sender, at: start)
        let answer = try phone.device.answer(challenge: challenge.text, at: later(1))
        try server.prove(challenge, answer: answer, at: later(2))
        #expect(try server.recipient(at: later(2)).recipient == recipient)

        let empty = try Phone()
        #expect(throws: ChallengeError.unknownRecipient) {
            try empty.device.answer(challenge: challenge.text, at: start)
        }
        // Once a sender set was accepted, only its senders may ask.
        let newcomer = SenderPrivateKey()
        try phone.device.accept(senderSet: phone.senderSet(1, of: [newcomer]).description, at: start)
        #expect(throws: ChallengeError.unknownSender) {
            try phone.device.answer(challenge: challenge.text, at: later(1))
        }
        let asked = PendingChallenge(
            to: recipient, of: server.enrollment, topic: Phone.topic, from: newcomer, at: start)
        _ = try phone.device.answer(challenge: asked.text, at: later(1))
    }

    @Test("A locked keychain has its own reason, for the app and for what is shown; other failures have another")
    func locked() throws {
        _ = try phone.device.enroll(at: start)
        let recipient = try phone.stored.keys[0].recipient
        let field = try phone.seal(to: recipient, sent: .now()).text
        for (error, reason) in [(SecretItemError.locked, OpenError.locked), (.other(-50), .keysUnavailable)] {
            let broken = phone.with(.failing(error))
            let shown = PushOpening(broken.configuration, environment: .system)
                .present(field: field, requestIdentifier: "one")
            guard case .safeDefault(_, reason, let envelope, _) = shown else {
                Issue.record("\(shown)")
                continue
            }
            #expect(envelope == (reason == .locked ? field : nil))
            let expected: DeviceError = error == .locked ? .locked : .unavailable("the keychain failed with error -50")
            #expect(throws: expected) { try broken.device.enroll() }
            #expect(throws: expected) { try broken.device.maintain() }
            let answer = error == .locked ? ChallengeError.locked : .keysUnavailable
            #expect(throws: answer) { try broken.device.answer(challenge: "pushchallenge.x") }
        }
    }

    @Test("A target without the keychain group gets an error that names it") func missingEntitlement() throws {
        let broken = try Phone().with(.failing(.other(-34018)))
        let error = #expect(throws: DeviceError.self) { try broken.device.enroll(at: start) }
        #expect(error?.description.contains("keychain-access-groups") == true)
    }

    @Test("A release build trusts no key whose secret is in this repository") func publishedKeys() throws {
        let published: [SenderPublicKey] = [
            "pushsender14tr562hekmdndg9w3nzv9222vhpqdve2xpl86fsduus5hr7vvyfs4f33c2"
        ]
        let own = SenderPrivateKey().sender
        #expect(PublishedKeys.trusted(published + [own], ifDebug: false) == [own])
        #expect(PublishedKeys.trusted(published + [own], ifDebug: true) == published + [own])
    }

    @Test("Outside Apple's systems, the app and the extension report that there is no keychain") func noKeychain()
        async throws
    {
        let configuration = ServiceConfiguration(
            topic: Phone.topic, keys: .keychain(accessGroup: "x"), trusting: [phone.sender.sender],
            safeDefault: SafeDefault(body: "d"), container: .folder(phone.folder.url))
        #expect(throws: DeviceError.unavailable("there is no keychain outside Apple's systems")) {
            try OwnDevice(configuration, environment: .system).enroll()
        }
        let field = try phone.seal(to: DevicePrivateKey().recipient, sent: .now()).text
        await #expect(throws: OpenError.keysUnavailable) {
            try await configuration.open(envelope: field, requestIdentifier: "one")
        }
    }

    @Test("No error and no description contains a secret") func secrets() throws {
        _ = try phone.device.enroll(at: start)
        let items = phone.memory.items()
        try #require(!items.isEmpty)
        for item in items {
            let text = item.secret.withBytes { String(decoding: $0, as: UTF8.self) }
            #expect(!"\(item)\(String(reflecting: item))".contains(text.suffix(40)))
            #expect(!String(decoding: item.attributes, as: UTF8.self).contains(text.suffix(40)))
        }
    }
}

/// Docs/Decisions/0030-files-on-a-phone.md. Linux has no such classes, so these tests show which are requested, and when.
@Suite("The classes of a phone's files") struct FileProtectionTests {
    private let folder: TemporaryFolder
    private let now = Timestamp.now()

    init() throws { folder = try TemporaryFolder() }

    /// A phone's classes, by path, and the contents of each folder when its class was set.
    private final class Classes: Sendable {
        private let state = Locked<(classes: [String: FileProtection], early: [String])>(([:], []))

        var system: FileProtection.System {
            FileProtection.System(
                current: { [self] path in state.withLock { $0.classes[Self.key(path)] } },
                set: { [self] protection, path in
                    // A new file gets its folder's class, unless another is set later.
                    let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
                    state.withLock { state in
                        state.classes[Self.key(path)] = protection
                        state.early += files.map { "\(path)/\($0)" }
                    }
                })
        }

        func of(_ url: URL) -> FileProtection? {
            state.withLock { $0.classes[Self.key(url.path(percentEncoded: false))] }
        }
        var early: [String] { state.withLock { $0.early } }

        /// A folder's path may or may not end with a slash.
        private static func key(_ path: String) -> String { path.split(separator: "/").joined(separator: "/") }
    }

    private var root: URL { folder.appending("SealedPush") }

    private func makeAll() throws {
        ServiceLog(folder: root).append(.init(time: now, reason: .locked))
        ReceiptQueue(in: root).count(.locked)
        try FileLedger(in: root).begin(floor: now, asksForNewKey: false)
        ConfirmationMarkers(in: root).mark(DevicePrivateKey().recipient, at: now)
        try SharedValues(in: root).replaceAll(with: ["quote": "x"])
        _ = try Data("x".utf8).write(to: ScratchFolder(in: folder.appending("tmp")).file(named: "picture"))
    }

    private func expectClasses(_ classes: Classes) {
        for always in ["", "receipts"] { #expect(classes.of(root.appending(path: always)) == .always, "\(always)") }
        for later in ["ledger", "confirmed", "values"] {
            #expect(
                classes.of(root.appending(path: later, directoryHint: .isDirectory)) == .fromFirstUnlock, "\(later)")
        }
        #expect(classes.of(folder.appending("tmp").appending(path: "sealed-push/")) == .fromFirstUnlock)
    }

    @Test("Each folder gets its class before any file is made in it") func foldersFirst() throws {
        let classes = Classes()
        try FileProtection.$system.withValue(classes.system) { try makeAll() }
        expectClasses(classes)
        #expect(classes.early.isEmpty)
        var fileCount = 0
        for file in try Checkout.allFiles(in: folder.url) {
            fileCount += 1
            let around = sequence(first: file.deletingLastPathComponent()) { $0.deletingLastPathComponent() }
            #expect(around.prefix(6).contains { classes.of($0) != nil }, "\(file.path)")
        }
        #expect(fileCount >= 7)
    }

    @Test("A folder with the wrong class gets its own next time, such as after a process was killed")
    func later() throws {
        let classes = Classes()
        try makeAll()
        try FileProtection.$system.withValue(classes.system) { try makeAll() }
        expectClasses(classes)
    }

    @Test("A class that can't be set does no harm") func refused() throws {
        let stubborn = FileProtection.System(current: { _ in nil }, set: { _, _ in })
        try FileProtection.$system.withValue(stubborn) { try makeAll() }
        #expect(ServiceLog(folder: root).entries().count == 1)
        #expect(SharedValues(in: root).all() == ["quote": "x"])
        #expect(try FileLedger(in: root).floor() == now)
    }
}
