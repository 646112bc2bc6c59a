import Dispatch
import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

@Suite("The marker that confirms a key") struct ConfirmationTests {
    private let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try fixture.beginLedger()
    }

    private var folder: URL { fixture.folder.appending("SealedPush").appending(path: "confirmed") }
    private var names: [String] { (try? DurableFiles.names(in: folder)) ?? [] }
    private var name: String { Hex.encode(fixture.phone.recipient.bytes) }

    /// Receives one push and waits until the extension has tidied up.
    private func deliver(_ field: String, _ service: SealedNotificationService, identifier: String) async
        -> UNNotificationContent
    {
        let shown = await receive(Fixture.request(field: field, identifier: identifier), service)
        await withCheckedContinuation { done in service.tidying.notify(queue: .global()) { done.resume() } }
        return shown
    }

    @Test("the first authenticated message leaves the key's marker with the time; later ones leave it alone")
    func firstMessage() async throws {
        let service = TestedService(fixture.configuration())
        #expect(names.isEmpty)
        #expect(await deliver(try fixture.seal(), service, identifier: "one").title == "Nina")
        #expect(names == [name])
        let file = folder.appending(path: name)
        let text = try Checkout.text(file)
        #expect(text.hasSuffix("\n"))
        let seconds = try #require(Int64(text.dropLast()))
        #expect(abs(seconds - fixture.now.secondsSince1970) < 60)
        let inode = try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int
        _ = await deliver(try fixture.seal(), service, identifier: "two")
        #expect(names == [name])
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int == inode)
    }

    @Test("anonymous messages, refused ones, repeats and replays leave none") func noMarker() async throws {
        let service = TestedService(fixture.configuration(allowsAnonymous: true))
        let anonymous = try Sealer(anonymousFor: Fixture.topic, safeDefault: "d")
            .seal(Content(body: "b"), toUnverified: fixture.phone.recipient)
        #expect(await deliver(anonymous.envelope.text, service, identifier: "one").body == "b")
        let stranger = try Sealer(sender: SenderPrivateKey(), topic: Fixture.topic, safeDefault: "d")
            .seal(Content(body: "b"), toUnverified: fixture.phone.recipient)
        #expect(await deliver(stranger.envelope.text, service, identifier: "two").body == "local default")
        var old = Content(body: "b")
        old.sent = fixture.now.advanced(bySeconds: -40 * 86_400)
        #expect(await deliver(try fixture.seal(old), service, identifier: "three").body == "local default")
        #expect(names.isEmpty)

        let field = try fixture.seal()
        _ = await deliver(field, service, identifier: "four")
        try FileManager.default.removeItem(at: folder)
        #expect(await deliver(field, service, identifier: "four").title == "Nina")
        #expect(await deliver(field, service, identifier: "five").body == "local default")
        #expect(names.isEmpty)
    }

    @Test("a marker that can't be written costs nothing, and nothing waits for it") func unwritable() async throws {
        try Data().write(to: folder)
        let service = TestedService(fixture.configuration())
        #expect(await deliver(try fixture.seal(), service, identifier: "one").title == "Nina")
        #expect(names.isEmpty)
        try FileManager.default.removeItem(at: folder)
        #expect(await deliver(try fixture.seal(), service, identifier: "two").title == "Nina")
        #expect(names == [name])
    }

    @Test("what the app opens after the unlock confirms the key too") func openedByTheApp() throws {
        let field = try fixture.seal()
        _ = try fixture.configuration().open(envelope: field, requestIdentifier: "one")
        #expect(names == [name])
        try FileManager.default.removeItem(at: folder)
        _ = try fixture.configuration().open(envelope: field, requestIdentifier: "one")
        #expect(names.isEmpty)
    }

    @Test(
        "a marker from the future counts as of now, and one that is damaged too",
        arguments: ["9999999999\n", "x", "", "-5\n"])
    func strange(text: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: folder.appending(path: name))
        let markers = ConfirmationMarkers(in: fixture.folder.appending("SealedPush"))
        #expect(markers.time(of: fixture.phone.recipient, at: fixture.now) == fixture.now)
    }
}
