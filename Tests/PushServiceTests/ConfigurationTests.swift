import Foundation
import PushSender
import PushServiceTesting
import SealedPush
import TestSupport
import Testing

@testable import PushService

@Suite("A configuration from an app group alone") struct ConfigurationTests {
    @Test("it has the topic, the keychain group, and the container of the app") func derives() throws {
        let (sender, authority) = (SenderPrivateKey().sender, AuthorityPrivateKey().authority)
        let app = ServiceConfiguration(
            group: "group.com.example", trusting: [sender.description], authorities: [authority.description],
            safeDefault: "You have a new message!")
        #expect(app.topic == .ofThisApp && app.senders == [sender] && app.authorities == [authority])
        #expect(app.safeDefault == SafeDefault(body: "You have a new message!"))
        let items = InMemorySecretItems()
        let environment = DeviceEnvironment(
            keychain: { $0 == "group.com.example" ? items : nil },
            appGroup: { URL(filePath: "/\($0)", directoryHint: .isDirectory) })
        #expect(app.keys.items(environment) as? InMemorySecretItems === items)
        #expect(environment.root(app.container)?.path == "/group.com.example")
        #expect(app.trustsAnyone)
    }

    @Test(
        "a key that isn't valid stops nothing, and no message opens without a sender",
        arguments: ["", "pushsender1...", "pushsender1 ", AuthorityPrivateKey().authority.description])
    func unusableKeys(text: String) async throws {
        let app = ServiceConfiguration(
            group: "group.com.example", trusting: [text], authorities: ["pushauthority1..."], safeDefault: "d")
        #expect(app.senders == [] && app.authorities == [] && !app.trustsAnyone)
        let sender = SenderPrivateKey()
        let mixed = ServiceConfiguration(
            group: "group.com.example", trusting: [text, sender.sender.description], safeDefault: "d")
        #expect(mixed.senders == [sender.sender] && mixed.trustsAnyone)
        // A sender that the authority's set has revoked must not be trusted again.
        let unpinned = ServiceConfiguration(
            group: "group.com.example", trusting: [sender.sender.description],
            authorities: [AuthorityPrivateKey().authority.description, "pushauthority1..."], safeDefault: "d")
        #expect(!unpinned.trustsAnyone)

        let phone = try Phone()
        _ = try phone.device.enroll(at: Phone.start)
        let recipient = try #require(try phone.device.enroll(at: Phone.start).recipients.first)
        var content = Content(body: "Lunch?")
        content.sent = Phone.start
        let sealed = try Sealer(sender: sender, topic: app.topic, safeDefault: "wire")
            .seal(content, toUnverified: recipient)
        var opening = app
        let items = phone.memory
        let folder = phone.folder.url
        opening.environment = DeviceEnvironment(
            keychain: { _ in items }, appGroup: { _ in folder }, now: { Phone.start })
        await #expect(throws: OpenError.unknownSender) {
            try await opening.open(envelope: sealed.envelope.text, requestIdentifier: "one")
        }
    }

    @Test(
        "the topic is the app's bundle ID, in the app and in its extension",
        arguments: [
            ("com.example.app", false, "com.example.app"),
            ("com.example.app.NotificationService", true, "com.example.app"),
            (nil, false, "com.example.app"), ("", true, "com.example.app"), ("not a bundle", false, "com.example.app"),
            ("org.other", false, "org.other"), ("org.other.Service", true, "org.other"),
        ] as [(String?, Bool, Topic)])
    func topic(identifier: String?, isExtension: Bool, expected: Topic) {
        #expect(Topic.of(identifier, isExtension: isExtension) == expected)
    }

    @Test("a debug build's tokens are for Apple's sandbox, and a release build's for production") func environment() {
        #if DEBUG
        #expect(PushEnvironment.ofThisBuild == .sandbox)
        #else
        #expect(PushEnvironment.ofThisBuild == .production)
        #endif
    }

    @Test("a log entry describes itself with codes and key IDs only") func entries() {
        var entry = ServiceLog.Entry(time: Phone.start, recipientKeyID: "0badcafe")
        #expect(entry.description == "opened 0badcafe -")
        entry.reason = .unknownSender
        entry.senderKeyID = "12345678"
        #expect(entry.description == "unknown-sender 0badcafe 12345678")
        entry.stage = "MediaStage"
        entry.failure = "network"
        #expect(entry.description == "MediaStage network")
    }
}
