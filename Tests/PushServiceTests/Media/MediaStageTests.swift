import Dispatch
import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

@Suite("Attachments on the device") struct MediaStageTests {
    /// A phone, a web server, and a message with attachments.
    final class Scene {
        let fixture: Fixture
        let server: MisbehavingServer
        var content = Content(title: "Nina", body: "Look!")

        init() throws {
            fixture = try Fixture()
            server = try MisbehavingServer()
        }

        /// Adds an attachment stored at `path`, and returns the stored file's bytes.
        @discardableResult func attach(
            _ path: String, _ bytes: [UInt8] = MediaStageTests.png(), type: MediaType = .png, isPlain: Bool = false,
            manner: (([UInt8]) -> MisbehavingServer.Manner)? = nil,
            change: (inout Content.Attachment) -> Void = { _ in }
        ) throws -> [UInt8] {
            let file = fixture.folder.appending("\(path).original")
            let stored = fixture.folder.appending("\(path).stored")
            try Data(bytes).write(to: file)
            let url = server.url(path, .hangs)
            var attachment = try Sealer.sealAttachment(
                file, to: stored, at: url, id: path, type: type, isPlain: isPlain)
            let sealed = [UInt8](try Data(contentsOf: stored))
            _ = server.url(path, manner?(sealed) ?? .serves(sealed))
            change(&attachment)
            content.attachments.append(attachment)
            return sealed
        }

        func show(
            _ stages: [any ServiceStage] = [MediaStage()], expiringAfter expiry: Duration? = nil
        ) async throws -> UNNotificationContent {
            await fixture.show(try fixture.seal(content), stages: stages, expiringAfter: expiry)
        }

        /// Does the same, but time is up a moment after this many files are finished.
        func show(expiringWhenReady count: Int, after pause: Duration) async throws -> UNNotificationContent {
            let service = TestedService(fixture.configuration(stages: [MediaStage()]))
            service.environment = fixture.environment()
            nonisolated(unsafe) let expiring = service
            let root = fixture.scratchRoot.path
            Thread.detachNewThread {
                let deadline = ContinuousClock.now + .seconds(20)
                while ContinuousClock.now < deadline {
                    let names = (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
                    if names.count(where: { $0.hasSuffix(".png") }) == count { break }
                    usleep(5_000)
                }
                Thread.sleep(forTimeInterval: pause / .seconds(1))
                expiring.serviceExtensionTimeWillExpire()
            }
            let shown = await receive(Fixture.request(field: try fixture.seal(content)), service)
            await service.tidied()
            return shown
        }

        /// The codes of the stages' failures.
        var failures: [String] { fixture.log.compactMap { $0.failure } }

        /// Files that stages have left behind.
        var leftFiles: [String] {
            get throws {
                let root = fixture.scratchRoot.path
                guard FileManager.default.fileExists(atPath: root) else { return [] }
                return try FileManager.default.subpathsOfDirectory(atPath: root).filter {
                    $0.contains(".") || $0.contains("unfinished")
                }
            }
        }

        /// Waits until files are gone and connections are closed, because both end a moment after the handler was called.
        func waitUntilQuiet(files: Int) async throws {
            try await eventually("\(files) files and no connection are left") {
                try leftFiles.count == files && server.connectionCount == 0
            }
        }
    }

    static func png(byteCount: Int = 100_000, seed: UInt8 = 7) -> [UInt8] {
        var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        var state = UInt32(seed) &+ 1
        while bytes.count < byteCount {
            state = state &* 1_664_525 &+ 1_013_904_223
            bytes.append(UInt8(truncatingIfNeeded: state >> 24))
        }
        return bytes
    }

    @Test("Sealed and plain files are fetched, checked, and attached in the content's order")
    func several() async throws {
        let scene = try Scene()
        try scene.attach("first", Self.png(byteCount: 200_000, seed: 1)) {
            .drips($0, after: $0.count - 40, every: .milliseconds(5))
        } change: {
            $0.thumbnail = AttachmentThumbnail(isHidden: true, time: 2)
        }
        try scene.attach("second", Self.png(byteCount: 65_536, seed: 2))
        let third = try scene.attach("third", Self.png(byteCount: 9, seed: 3), isPlain: true) { _ in
            .redirects(to: "/moved")
        }
        _ = scene.server.url("moved", .serves(third))
        let shown = try await scene.show()
        #expect(shown.body == "Look!")
        #expect(shown.attachments.map { $0.identifier } == ["first", "second", "third"])
        #expect(shown.attachments.map { $0.type } == ["public.png", "public.png", "public.png"])
        #expect(try Data(contentsOf: shown.attachments[0].url) == Data(Self.png(byteCount: 200_000, seed: 1)))
        #expect(try Data(contentsOf: shown.attachments[1].url) == Data(Self.png(byteCount: 65_536, seed: 2)))
        #expect(try Data(contentsOf: shown.attachments[2].url) == Data(Self.png(byteCount: 9, seed: 3)))
        let read = try #require(SealedNotification(userInfo: shown.userInfo))
        #expect(read.attachmentURLs["second"]?.path == "/second")
        #expect(scene.failures == [])
        #expect(try scene.leftFiles.count == 3)
    }

    @Test(
        "Whatever a server does, the text is shown once, with the valid picture, and no file is left behind",
        arguments: [("altered", "altered"), ("altered-plain", "altered"), ("wrong-type", "wrong-type")])
    func badServers(kind: String, code: String) async throws {
        let scene = try Scene()
        try scene.attach("good")
        switch kind {
        case "altered", "altered-plain":
            try scene.attach(kind, isPlain: kind == "altered-plain") { sealed in
                var bytes = sealed
                bytes[sealed.count / 2] ^= 1
                return .serves(bytes)
            }
        default:
            try scene.attach(kind, [UInt8]("GIF89a not a picture at all".utf8), type: .gif) { change in
                .serves(change)
            } change: {
                $0.type = .jpeg
            }
        }
        let shown = try await scene.show()
        #expect(shown.title == "Nina")
        #expect(shown.attachments.map { $0.identifier } == ["good"])
        #expect(scene.failures == [code])
        try await scene.waitUntilQuiet(files: 1)
    }

    @Test("On expiry, finished files are delivered, and the other connections are closed") func expiry() async throws {
        try await lengthening(.milliseconds(100), "two files that are kept on expiry") { pause in
            let scene = try Scene()
            try scene.attach("one")
            try scene.attach("hanging") { _ in .hangs }
            try scene.attach("dripping") { .drips($0, after: 100, every: .seconds(1)) }
            try scene.attach("four")
            try scene.attach("lying") { .lies(Array($0.prefix(50_000)), contentLength: $0.count) }
            let shown = try await scene.show(expiringWhenReady: 2, after: pause)
            try await scene.waitUntilQuiet(files: shown.attachments.count)
            return shown.attachments.map { $0.identifier } == ["one", "four"]
        }
    }

    @Test("If time runs out at any 100 ms of a run, the text is shown once and nothing is left open")
    func anyMoment() async throws {
        for step in 0...11 {
            let scene = try Scene()
            try scene.attach("one")
            try scene.attach("two") { _ in .redirects(to: "/one") }
            // About a second.
            try scene.attach("three") { .drips($0, after: $0.count - 50, every: .milliseconds(20)) }
            let shown = try await scene.show(expiringAfter: .milliseconds(100 * step))
            #expect(["Look!", "local default"].contains(shown.body))
            try await scene.waitUntilQuiet(files: shown.attachments.count)
        }
    }

    @Test("A repeat is fetched again for a day; later, only its text is shown, and no store is asked")
    func repeats() async throws {
        let scene = try Scene()
        try scene.attach("one")
        let fixture = scene.fixture
        let field = try fixture.seal(scene.content)
        for (seconds, count) in [(0, 1), (86_390, 2), (86_410, 2), (29 * 86_400, 2)] {
            let environment = fixture.environment(now: { fixture.now.advanced(bySeconds: Int64(seconds)) })
            let shown = await fixture.show(field, identifier: "one", stages: [MediaStage()], environment: environment)
            #expect(shown.body == "Look!")
            #expect(shown.attachments.count == (seconds < 86_400 ? 1 : 0))
            #expect(scene.server.requests.count == count, "after \(seconds) seconds")
        }
    }

    @Test("Content too large for a push is fetched first; if that fails, its first part is shown")
    func overflow() async throws {
        let scene = try Scene()
        let picture = try scene.attach("picture")
        #expect(!picture.isEmpty)
        var content = scene.content
        content.alert.body = String(repeating: "long text äöü ", count: 1_000)
        content.data = ["for": "the app"]
        let url = scene.server.url("overflow", .hangs)
        let moved = try #require(try scene.fixture.sealer.moveOverflow(of: content, at: url))
        #expect(moved.content.alert.body?.hasSuffix("…") == true)
        scene.content = moved.content
        for (manner, isWhole) in [
            (MisbehavingServer.Manner.serves(moved.file), true), (.serves(moved.file.reversed()), false),
            (.answers(status: 500), false),
        ] {
            _ = scene.server.url("overflow", manner)
            let shown = try await scene.show([MediaStage(), OverflowStage()])
            #expect(shown.title == "Nina")
            #expect((shown.body == content.alert.body) == isWhole)
            #expect(shown.attachments.count == (isWhole ? 1 : 0))
            #expect((SealedNotification(userInfo: shown.userInfo)?.data == content.data) == isWhole)
        }
    }

    @Test(
        "Whatever the server of a long text does, its first part is shown, and nothing is left open",
        arguments: [true, false])
    func badOverflow(hangs: Bool) async throws {
        let scene = try Scene()
        let long = Content(title: "Nina", body: String(repeating: "long ", count: 2_000))
        let moved = try #require(try scene.fixture.sealer.moveOverflow(of: long, at: scene.server.url("o", .hangs)))
        _ = scene.server.url("o", hangs ? .hangs : .floods(moved.file))
        scene.content = moved.content
        let shown = try await scene.show([OverflowStage(), MediaStage()], expiringAfter: .milliseconds(700))
        #expect(shown.title == "Nina")
        #expect(shown.body == moved.content.alert.body)
        try await scene.waitUntilQuiet(files: 0)
    }
}
