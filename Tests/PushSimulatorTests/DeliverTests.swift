import Foundation
import PushSender
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@Suite("device-simulator deliver", .serialized, .blocking) struct DeliverTests {
    private let device: Device

    init() throws { device = try Device() }

    @Test("a sealed message is shown, and the output has every detail that a script may need") func opened() throws {
        var content = Content(title: "Nina", subtitle: "to you", body: "Lunch?", data: ["room": 4])
        content.badge = 2
        content.threadID = "nina"
        content.category = "chat"
        let shown = try device.deliver(try device.file(try device.seal(content)))
        #expect(shown.outcome == "opened" && shown.reason == nil && shown.title == "Nina" && shown.body == "Lunch?")
        for (member, text) in [("subtitle", "to you"), ("thread", "nina"), ("category", "chat")] {
            #expect(shown.object[member] as? String == text)
        }
        #expect(shown.object["badge"] as? Int == 2)
        #expect((shown.object["data"] as? [String: Any])?["room"] as? Int == 4)
        #expect((shown.object["elapsedMilliseconds"] as? Int).map { $0 >= 0 } == true)
        let memory = try #require(shown.object["peakMemoryBytes"] as? Int)
        #expect(memory > 100_000)
    }

    @Test("a second delivery to the same state is a replay; with the same identifier, it silently replaces itself")
    func replay() throws {
        let file = try device.file(try device.seal())
        #expect(try device.deliver(file).outcome == "opened")
        let replay = try device.deliver(file)
        #expect(replay.outcome == "safe-default")
        #expect(replay.reason == "replayed")
        #expect(replay.body == "You have a new message!")
        // Without a state, the device is new each time.
        #expect(try device.deliver(file, state: nil).outcome == "opened")

        let second = try device.file(try device.seal())
        #expect(try device.deliver(second, ["--identifier", "-x"]).outcome == "opened")
        let again = try device.deliver(second, ["--identifier", "-x"])
        #expect(again.outcome == "opened")
        #expect(again.object["interruptionLevel"] as? String == "passive")
        #expect(try device.deliver(second, ["--identifier", "y"]).reason == "replayed")
    }

    @Test("a state without a ledger is a reinstall: earlier messages don't open, and later ones do")
    func reinstall() throws {
        let file = try device.file(try device.seal())
        try FileManager.default.createDirectory(at: device.folder.appending("State"), withIntermediateDirectories: true)
        #expect(try device.deliver(file).reason == "replayed")
        var later = Content(body: "later")
        later.sent = Timestamp.now().advanced(bySeconds: 5)
        #expect(try device.deliver(try device.file(try device.seal(later))).outcome == "opened")
    }

    @Test("the app opens a withdrawal in a background push, and the extension opens one in an ordinary push")
    func withdrawal() throws {
        func file(_ target: Content.Withdrawal.Target, isFiltered: Bool, badge: Int? = nil) throws -> String {
            var content = Content(withdrawing: target, isFiltered: isFiltered)
            (content.badge, content.sent) = (badge, Timestamp.now().advanced(bySeconds: 1))
            return try device.file(try device.seal(content))
        }
        let id = MessageID.random()
        var messages: [String] = []
        for (text, thread) in [("one", "a"), ("two", "b"), ("three", "b")] {
            var content = Content(body: text)
            (content.threadID, content.id) = (thread, text == "one" ? id : nil)
            messages.append(try device.file(try device.seal(content)))
        }
        let background = try file(.message(id), isFiltered: false, badge: 2)
        let filtered = try file(.thread("b"), isFiltered: true, badge: 0)
        let run = try Program("device-simulator").run(
            device.arguments(messages[0], Array(messages[1...]) + [background, filtered, "--filtering-entitlement"]))
        let delivered = run.objects.map(Device.Delivered.init)
        #expect(delivered.map(\.outcome) == ["opened", "opened", "opened", "not-shown", "not-shown"], "\(run.errors)")
        let removed = delivered.map { $0.object["removed"] as? [String] ?? [] }
        let identifiers = delivered.map { $0.object["identifier"] as? String ?? "" }
        #expect(removed[3] == [identifiers[0]] && Set(removed[4]) == Set(identifiers[1...2]))
        #expect(delivered[3...].map { $0.object["badge"] as? Int } == [2, 0])
        #expect(delivered[3].note == "the app opened a withdrawal")

        // Without the entitlement, iOS shows the wire's text. In the background, any other message has no effect.
        let visible = try device.deliver(try file(.thread("b"), isFiltered: true))
        #expect(visible.outcome == "original" && visible.body == "wire default")
        let text = #"{"aps":{"content-available":1},"custom-encrypted-message":"\#(try device.seal().envelope.text)"}"#
        let other = try device.deliver(try device.folder.write(text, to: "other.apns"))
        #expect(other.outcome == "not-shown" && other.note == "not a withdrawal")
        let broken = try device.deliver(
            try device.folder.write(text.replacing("\"}", with: "AAAA\"}"), to: "broken.apns"))
        #expect(broken.outcome == "not-shown" && broken.note == "the app couldn't open it: rejected")
    }

    @Test("a refused message shows only the safe default, with its code") func refusals() throws {
        let anonymous = try device.file(
            Sealer(anonymousFor: Device.topic, safeDefault: "d").seal(
                Content(body: "b"), toUnverified: device.recipient))
        for (reason, file, more) in [
            ("locked", try device.file(device.seal()), ["--locked"]), ("anonymous-not-allowed", anonymous, []),
        ] {
            let shown = try device.deliver(file, more)
            #expect(shown.outcome == "safe-default" && shown.reason == reason)
            #expect(shown.body == "You have a new message!")
            for key in ["title", "subtitle", "badge", "thread", "category", "data"] {
                #expect(shown.object[key] is NSNull, "\(reason): \(key)")
            }
            #expect(shown.object["userInfoKeys"] as? [String] == ["sealed-push"])
        }
        #expect(try device.deliver(anonymous, ["--allow-anonymous"]).outcome == "opened")
    }

    @Test("a carrier's title, sound, category, level, badge, and keys never get through, on either path")
    func forgedClearPart() throws {
        let text = try device.seal().envelope.text
        for (field, outcome) in [(text, "opened"), ("AQ", "safe-default")] {
            let payload = """
                {"aps":{"alert":{"title":"WIRE","body":"WIRE"},"mutable-content":1,"sound":"wire.caf","badge":99,
                "category":"WIRE","thread-id":"WIRE","interruption-level":"critical","target-content-id":"WIRE"},
                "WIRE":1,"sealed-push":{"outcome":"opened","data":"WIRE"},"custom-encrypted-message":"\(field)"}
                """
            let shown = try device.deliver(try device.folder.write(payload, to: "forged"))
            #expect(shown.outcome == outcome)
            #expect(!"\(shown.object.filter { $0.key != "file" })".uppercased().contains("WIRE"))
            #expect(shown.object["badge"] is NSNull)
            #expect(shown.object["userInfoKeys"] as? [String] == ["sealed-push"])
        }
    }

    @Test("a push that doesn't wake the extension is shown unchanged, or not at all") func noExtension() throws {
        let plain = try device.folder.write(#"{"aps":{"alert":{"title":"t","body":"b"}}}"#, to: "plain")
        let shown = try device.deliver(plain)
        #expect(shown.outcome == "original")
        #expect(shown.title == "t")
        #expect(shown.object["peakMemoryBytes"] is NSNull)
        let silent = try device.folder.write(#"{"aps":{"content-available":1}}"#, to: "silent")
        #expect(try device.deliver(silent).outcome == "not-shown")
    }

    @Test("invalid input exits with 65, wrong usage with 64, and unreadable files with 74, without showing anything")
    func statuses() throws {
        let good = try device.file(try device.seal())
        let foreign = #"{"Simulator Target Bundle":"com.example.other","aps":{"alert":"a"}}"#
        for (file, more, status) in [
            (try device.folder.write("no JSON", to: "bad"), [], 65), (try device.folder.write("", to: "empty"), [], 65),
            (try device.folder.write(foreign, to: "foreign"), [], 65), ("/no/such/file", [], 74),
            (good, ["--time-limit", "0"], 64), (good, ["--no-such-flag"], 64), (good, ["--trust", "nobody"], 65),
            (good, ["--extension", "/no/such/program"], 74),
        ] as [(String, [String], Int32)] {
            let result = try Program("device-simulator").run(device.arguments(file, more))
            #expect(result.status == status && result.output.isEmpty && !result.errors.isEmpty, "\(result.errors)")
        }
    }

    @Test(
        "concurrent processes show a message once, or with one identifier, each in the same place",
        arguments: [nil, "place"])
    func twoProcesses(identifier: String?) throws {
        for _ in 0..<Thoroughness.count(3, thorough: 8) {
            let file = try device.file(try device.seal())
            _ = try device.deliver(try device.file(try device.seal()))
            let runs = try (0..<4).map { _ in
                try start(file, identifier.map { ["--identifier", $0] } ?? [], to: UUID().uuidString)
            }
            for run in runs { #expect(run.process.wait() == .exited(0)) }
            let outcomes = try runs.map { try Checkout.text($0.output) }
            #expect(outcomes.count { $0.contains(#""outcome":"opened""#) } == (identifier == nil ? 1 : 4))
            #expect(outcomes.count { $0.contains(#""reason":"replayed""#) } == (identifier == nil ? 3 : 0))
        }
    }

    /// Starts a delivery in a process, without waiting for it.
    private func start(
        _ file: String, _ more: [String], to name: String = "output"
    ) throws -> (process: ChildProcess, output: URL) {
        let output = URL(filePath: try device.folder.write("", to: name))
        let process = try Program("device-simulator").start(
            device.arguments(file, more), output: FileHandle(forWritingTo: output))
        return (process, output)
    }

    @Test("if only the extension is killed, the original is shown, and the message opens the next time")
    func killedExtension() throws {
        var random = SeededGenerator()
        for _ in 0..<Thoroughness.count(4, thorough: 30) {
            try killExtension(opening: Content(title: "Nina", body: "Lunch at one?")) { process in
                // Starts when there is a process to kill.
                while process.children.isEmpty, !process.hasEnded { usleep(200) }
                usleep(.random(in: 0...12_000, using: &random))
            }
        }
        // At random, all may have ended before. This one has opened the message, and waits for a picture.
        let server = try MisbehavingServer()
        let url = server.url("picture", .hangs)
        let picture = device.folder.appending("picture.png")
        try Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).write(to: picture)
        var content = Content(title: "Nina", body: "Lunch at one?")
        content.attachments = [
            try Sealer.sealAttachment(
                picture, to: device.folder.appending("stored"), at: url, id: "picture", type: .png)
        ]
        // It doesn't wait for more than 25 s, which may be too short to kill it in.
        var isKilled = false
        for _ in 0..<20 where !isKilled {
            _ = server.url("picture", .hangs)
            let before = server.heads.count
            isKilled =
                try killExtension(opening: content) { process in
                    while server.heads.count == before, !process.hasEnded { usleep(200) }
                } onceKilled: {
                    _ = server.url("picture", .answers(status: 404))
                } == "original"
        }
        #expect(isKilled)
    }

    /// Delivers a message, kills the extension after `waiting`, and delivers the message again. Returns the first outcome.
    @discardableResult private func killExtension(
        opening content: Content, _ waiting: (ChildProcess) -> Void, onceKilled: () -> Void = {}
    ) throws -> String? {
        let file = try device.file(try device.seal(content))
        let (process, output) = try start(file, ["--identifier", "same"])
        waiting(process)
        _ = process.killChildren()
        onceKilled()
        #expect(process.wait() == .exited(0))
        let shown = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: output)) as? [String: Any])
        let outcome = shown["outcome"] as? String
        #expect(outcome == "opened" || outcome == "original")
        #expect(shown["body"] as? String == (outcome == "opened" ? "Lunch at one?" : "wire default"))
        #expect(try device.deliver(file, ["--identifier", "same"]).outcome == "opened")
        #expect(try device.deliver(file, ["--identifier", "other"]).reason == "replayed")
        return outcome
    }

    @Test(
        "on a full disk, the safe default is shown; once there is room, the message opens",
        .enabled(if: Machine.canMount, "The system doesn't allow mounting a file system."))
    func fullDisk() throws {
        // A file system of 64 KiB in its own mount namespace.
        let script = """
            set -e
            mount -t tmpfs -o size=64k tmpfs "$SMALL"
            deliver() { file=$1; shift; "$SIMULATOR" deliver "$file" --state "$SMALL/State" "$@"; }
            deliver "$FIRST" "$@"
            head -c 1000000 /dev/zero > "$SMALL/filler" 2>/dev/null || :
            deliver "$SECOND" "$@"
            rm "$SMALL/filler"
            deliver "$SECOND" "$@"
            """
        let small = device.folder.appending("Small")
        try FileManager.default.createDirectory(at: small, withIntermediateDirectories: true)
        let settings = [
            "SMALL": small.path, "SIMULATOR": Program("device-simulator").executable.path,
            "FIRST": try device.file(try device.seal(Content(body: "first"))),
            "SECOND": try device.file(try device.seal(Content(body: "second"))),
        ]
        let wrapper = try device.folder.write(
            settings.map { "\($0.key)='\($0.value)'\n" }.joined() + script, to: "script")
        let result = try Program(at: "/usr/bin/unshare").run(
            ["--mount", "--map-root-user", "/bin/sh", wrapper] + device.arguments("", state: nil).dropFirst(2))
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.objects.map { $0["outcome"] as? String } == ["opened", "safe-default", "opened"])
        #expect(result.objects.map { $0["reason"] as? String } == [nil, "ledger-unavailable", nil])
    }

    @Test("after a kill at any moment, no message is lost or opens twice") func killed() throws {
        var random = SeededGenerator()
        for _ in 0..<Thoroughness.count(4, thorough: 40) {
            let file = try device.file(try device.seal())
            let (process, _) = try start(file, ["--identifier", "same"])
            usleep(.random(in: 0...30_000, using: &random))
            process.kill()
            // If the system delivers it again with its identifier, it opens.
            #expect(try device.deliver(file, ["--identifier", "same"]).outcome == "opened")
            #expect(try device.deliver(file, ["--identifier", "other"]).reason == "replayed")
        }
    }
}
