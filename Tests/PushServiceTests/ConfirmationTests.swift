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

@Suite("The marker that confirms a key") struct ConfirmationTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private var folder: URL { fixture.root.appending(path: "confirmed") }
    private var names: [String] { (try? DurableFiles.names(in: folder)) ?? [] }
    private var name: String { Hex.encode(fixture.phone.recipient.bytes) }

    @Test("The first authenticated message leaves the key's marker with its time; later ones don't change it")
    func firstMessage() async throws {
        #expect(names.isEmpty)
        #expect(await fixture.show(try fixture.seal(), identifier: "one").title == "Nina")
        #expect(names == [name])
        let file = folder.appending(path: name)
        let text = try Checkout.text(file)
        #expect(text.hasSuffix("\n"))
        let seconds = try #require(Int64(text.dropLast()))
        #expect(abs(seconds - fixture.now.secondsSince1970) < 60)
        let inode = try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int
        _ = await fixture.show(try fixture.seal(), identifier: "two")
        #expect(names == [name])
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int == inode)
    }

    @Test("Anonymous and refused messages, repeats, and replays leave no marker") func noMarker() async throws {
        let configuration = fixture.configuration(allowsAnonymous: true)
        let anonymous = try Sealer(anonymousFor: Fixture.topic, safeDefault: "d")
            .seal(Content(body: "b"), toUnverified: fixture.phone.recipient)
        #expect(await fixture.show(anonymous.envelope.text, identifier: "one", by: configuration).body == "b")
        let stranger = try Sealer(sender: SenderPrivateKey(), topic: Fixture.topic, safeDefault: "d")
            .seal(Content(body: "b"), toUnverified: fixture.phone.recipient)
        #expect(
            await fixture.show(stranger.envelope.text, identifier: "two", by: configuration).body == "local default")
        var old = Content(body: "b")
        old.sent = fixture.now.advanced(bySeconds: -40 * 86_400)
        #expect(
            await fixture.show(try fixture.seal(old), identifier: "three", by: configuration).body == "local default")
        #expect(names.isEmpty)

        let field = try fixture.seal()
        _ = await fixture.show(field, identifier: "four", by: configuration)
        try FileManager.default.removeItem(at: folder)
        #expect(await fixture.show(field, identifier: "four", by: configuration).title == "Nina")
        #expect(await fixture.show(field, identifier: "five", by: configuration).body == "local default")
        #expect(names.isEmpty)
    }

    @Test("A marker that can't be written does no harm and delays nothing") func unwritable() async throws {
        try Data().write(to: folder)
        #expect(await fixture.show(try fixture.seal(), identifier: "one").title == "Nina")
        #expect(names.isEmpty)
        try FileManager.default.removeItem(at: folder)
        #expect(await fixture.show(try fixture.seal(), identifier: "two").title == "Nina")
        #expect(names == [name])
    }

    @Test("A message that the app opens after the unlock also confirms the key") func openedByTheApp() async throws {
        let field = try fixture.seal()
        _ = try await fixture.configuration().open(envelope: field, requestIdentifier: "one")
        #expect(names == [name])
        try FileManager.default.removeItem(at: folder)
        _ = try await fixture.configuration().open(envelope: field, requestIdentifier: "one")
        #expect(names.isEmpty)
    }

    @Test(
        "A marker that is damaged or from the future counts as made now",
        arguments: ["9999999999\n", "x", "", "-5\n"])
    func strange(text: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: folder.appending(path: name))
        let markers = ConfirmationMarkers(in: fixture.root)
        #expect(markers.time(of: fixture.phone.recipient, at: fixture.now) == fixture.now)
    }
}
