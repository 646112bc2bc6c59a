import Foundation
import Glibc
import PushKeyring
import PushSimulator
import SealedPush
import SimulatedAPNs
import TestPrograms
import TestSupport
import Testing

@Suite("sealedpush serve, when something goes wrong", .blocking) struct ServeUpkeepTests {
    private static let token = String(repeating: "0123456789abcdef", count: 2)
    private static let message = #"{"user":"alice","content":{"alert":{"title":"Nina"}}}"#

    private static func sealing() -> String {
        let recipient = DevicePrivateKey().recipient.description
        return #"{"recipient":"\#(recipient)","unverified":true,"content":{"alert":{"title":"Nina"}}}"#
    }

    // MARK: Keys

    @Test("a revoked sender stops sealing, even if other files can't be read, until it has another key")
    func revoked() async throws {
        let fixture = try await SendingFixture()
        try ServedCommand.write("\(Self.token)\n", to: "token", fixture)
        let served = try await ServedCommand.start(
            fixture, ["--listen", "127.0.0.1:0", "--token-file", "token", "--metrics", "127.0.0.1:0"])
        let base = "http://127.0.0.1:\(try #require(served.place["port"] as? Int))"
        let figures = try await Self.figures(of: served)
        let post = { (path: String, body: String) in
            try served.curl(base + path, "-H", "Authorization: Bearer \(Self.token)", "--json", body)
        }
        #expect(try post("/v1/seal", Self.sealing()).status == "200")

        #expect(try fixture.run(["keys", "revoke", "newsroom", "--yes", "--keyring", "Keys"]).status == 0)
        try ServedCommand.write("short\n", to: "token", fixture)
        served.signal()
        try await eventually("the tokens to be read") { served.errors.contains("the tokens could not be reread") }
        try await eventually("the keys to be read") { served.errors.contains("sealing is disabled") }
        for (path, body) in [
            ("/v1/seal", Self.sealing()), ("/v1/messages", Self.message), ("/v1/logins", #"{"user":"alice"}"#),
        ] {
            let answer = try post(path, body)
            #expect(answer.status == "503" && answer.body.contains(#""no-sender""#), "\(path): \(answer)")
        }
        for place in [base, figures] {
            let ready = try served.curl(place + "/readyz")
            #expect(ready.status == "503" && ready.body.contains(#""no-sender""#))
            #expect(try served.curl(place + "/healthz").status == "200")
        }

        #expect(try fixture.run(["keys", "rotate", "newsroom", "--keyring", "Keys"]).status == 0)
        served.signal()
        try await eventually("another key") { try post("/v1/seal", Self.sealing()).status == "200" }
        let new = try fixture.keyring.sender(named: "newsroom").description
        #expect(try post("/v1/seal", Self.sealing()).body.contains(new))
        for place in [base, figures] { #expect(try served.curl(place + "/readyz").status == "200") }
        #expect(served.stop() == .exited(0))
    }

    @Test(
        "sealing stops if just the current key is revoked, or if the keyring is resealed, as the key may then be revoked",
        arguments: [
            (["rotate newsroom", "revoke newsroom --key OLD --yes"], "fix the key, then send SIGHUP to reload it"),
            (
                ["passphrase --new-unlock clean.key", "revoke newsroom --yes --unlock clean.key"],
                "restart with the keyring's new secret"
            ),
        ])
    func changed(_ changes: [String], until way: String) async throws {
        let fixture = try await SendingFixture()
        let served = try await ServedCommand.start(fixture, ["--listen", "own.sock"])
        let old = try fixture.keyring.sender(named: "newsroom").keyID.description
        for change in changes {
            let words = "keys \(change) --keyring Keys".replacing("OLD", with: old)
            let done = try fixture.run(words.split(separator: " ").map(String.init))
            #expect(done.status == 0, "\(done.errors)")
        }
        served.signal()
        try await eventually("the keys to be read") { served.errors.contains(way) }
        let sealed = try served.ask("/v1/seal", Self.sealing())
        #expect(sealed.status == "503" && sealed.body.contains(#""no-sender""#), "\(sealed)")
        #expect(served.stop() == .exited(0))
    }

    @Test("if serve can't reread its keys, it uses the old ones and is not ready") func unreadable() async throws {
        let fixture = try await SendingFixture()
        let served = try await ServedCommand.start(fixture, ["--listen", "own.sock"])
        let ask = { (path: String) in try served.ask(path) }
        let file = fixture.folder.appending("Keys/keyring.txt")
        let whole = try Checkout.text(file)
        try Data("no key".utf8).write(to: file)
        served.signal()
        try await eventually("the keys to be read") {
            served.errors.contains("the sender's keys could not be reread")
        }
        let ready = try ask("/readyz")
        #expect(ready.status == "503" && ready.body.contains(#""keys-unread""#))
        let sealed = try served.ask("/v1/seal", Self.sealing())
        #expect(sealed.status == "200")
        try ServedCommand.write(whole, to: "Keys/keyring.txt", fixture)
        served.signal()
        try await eventually("the service to be ready") { try ask("/readyz").status == "200" }
        #expect(served.errors.contains("reread the keys, tokens, sender set, and certificate"), "\(served.errors)")
        // Even if it's not ready, it ends gracefully.
        try Data("no key".utf8).write(to: file)
        served.signal()
        try await eventually("the service to be in doubt") { try ask("/readyz").body.contains("keys-unread") }
        #expect(served.stop() == .exited(0))
    }

    private static func figures(of served: ServedCommand) async throws -> String {
        try await eventually("metrics") { served.errors.contains("/metrics") }
        return String(try #require(served.errors.firstMatch(of: /metrics are at (http:[^ \n]+)\/metrics/)?.1))
    }

    // MARK: Delivering

    @Test(
        "an unreachable database delays the end for at most 45 s",
        .enabled(if: Thoroughness.isThorough, "It waits those 45 s.")) func away() async throws
    {
        let fixture = try await SendingFixture()
        for attempt in 1...20 {
            let server = try await PostgresServer()
            let database = try await server.database()
            let served = try await ServedCommand.start(
                fixture, ["--listen", "own.sock", "--apns", "APNs", "--outbox", database.address])
            let (start, earlier) = (ContinuousClock.now, served.errors)
            try server.end()
            try await eventually("it waits for the database") {
                served.errors.dropFirst(earlier.count).contains("waiting up to 60 s")
            }
            kill(served.process.identifier, SIGTERM)
            let delay = ContinuousClock.now - start
            let status = served.process.wait()
            // Repeat if this machine was too slow to stop the courier before it gave up, 60 s after losing the database, or if
            // another part of the service waited: a courier that needs no database just then ends at once.
            if delay > .seconds(10) || status == .exited(0), attempt < 20 { continue }
            #expect(status == .exited(75) && served.errors.contains("stopped after 45 s"), "\(status) \(served.errors)")
            return
        }
    }

    @Test(
        "a refusal by APNs only pauses delivery: callers get responses, and delivery continues after the fix")
    func delivery() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone", user: "alice")
        let right = try fixture.makeAPNsWithWrongKey("Wrong")
        let served = try await ServedCommand.start(
            fixture, ["--listen", "own.sock", "--apns", "Wrong", "--metrics", "127.0.0.1:0"])
        let send = {
            try served.ask("/v1/messages", Self.message).status
        }
        #expect(try send() == "202")
        // More than one pause, because each run starts over.
        try await eventually("two pauses") { served.errors.components(separatedBy: "delivery pauses for ").count > 2 }
        #expect(try send() == "202")
        #expect(try served.ask("/readyz").status == "200")
        let figures = try await Self.figures(of: served)
        #expect(try served.curl(figures + "/metrics").body.contains("\npush_delivery_paused "))
        try right.write(to: fixture.folder.appending("Wrong/address.json"), options: .atomic)
        try await eventually("both to be delivered") {
            try served.ask("/v1/outbox").body.contains(#""accepted":2"#)
        }
        #expect(served.stop() == .exited(0), "\(served.errors)")
    }

    // MARK: The socket

    @Test("a socket in use is left alone; one left behind by a killed service is replaced")
    func live() async throws {
        let fixture = try await SendingFixture()
        let served = try await ServedCommand.start(fixture, ["--listen", "own.sock"])
        let words = [
            "serve", "--from", "newsroom", "--topic", SendingFixture.topic, "--keyring", "Keys", "--listen", "own.sock",
        ]
        let lock = fixture.folder.appending("own.sock.lock").path
        #expect(FileManager.default.fileExists(atPath: lock))
        #expect(served.errors.contains("made outbox.sqlite, a new outbox"), "\(served.errors)")
        let second = try fixture.run(words)
        #expect(second.status == 74 && second.errors.contains("another service listens there"), "\(second.errors)")
        #expect(!second.errors.contains("a new outbox"))
        // Even if the lock's file is missing.
        try FileManager.default.removeItem(atPath: lock)
        let third = try fixture.run(words)
        #expect(third.status == 74 && third.errors.contains("another service listens there"), "\(third.errors)")
        let ready = { try served.ask("/readyz").status }
        #expect(try ready() == "200")
        served.process.kill()
        _ = served.process.wait()
        #expect(FileManager.default.fileExists(atPath: fixture.folder.appending("own.sock").path))
        let next = try await ServedCommand.start(fixture, ["--listen", "own.sock"], as: " of the next")
        #expect(try ready() == "200")
        #expect(next.stop() == .exited(0))
        #expect(!FileManager.default.fileExists(atPath: fixture.folder.appending("own.sock").path))
    }

    // MARK: At the start

    @Test("a folder writable by others, a file in the socket's place, and another outbox's key are refused")
    func refused() async throws {
        let fixture = try await SendingFixture()
        let token = try fixture.device("alice-phone", enrolled: false)
        for (name, mode) in [("open", 0o777), ("sticky", 0o1777), ("group", 0o770)] {
            let folder = fixture.folder.appending(name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            #expect(chmod(folder.path, mode_t(mode)) == 0)
        }
        try ServedCommand.write("mine", to: "file", fixture)
        // A new outbox gets its own key, which doesn't fit another outbox.
        for (key, outbox) in [("outbox.key", "outbox.sqlite"), ("other.key", "third.sqlite")] {
            let made = try fixture.run([
                "device", "enroll", "alice-phone", "--user", "alice", "--token", token, "--keyring", "Keys",
                "--outbox-key", key, "--outbox", outbox,
            ])
            #expect(made.status == 0 && made.errors.contains("created \(key)"), "\(made.errors)")
        }
        let long = String(repeating: "x", count: 102)
        let other = ["--outbox", "other.sqlite", "--listen"]
        let cases: [([String], Int32, String)] = [
            (other + ["open/s"], 74, "other users can write to its folder"),
            (other + ["sticky/s"], 74, "other users can write to its folder"),
            (other + ["group/s"], 74, "other users can write to its folder"),
            (other + ["./file"], 74, "other than a socket"), (other + ["./\(long)"], 74, "longer than 103 bytes"),
            (["--listen", "./s", "--outbox-key", "other.key"], 65, "not marked with this key"),
            (["--listen", "./s"], 77, "--outbox-key"),
            (["--listen", "./s", "--outbox-key", "no.key"], 74, "--outbox-key: No such"),
        ]
        let words = ["serve", "--from", "newsroom", "--topic", SendingFixture.topic, "--keyring", "Keys"]
        for (arguments, status, text) in cases {
            let result = try fixture.run(words + arguments)
            #expect(result.status == status && result.errors.contains(text), "\(arguments): \(result.errors)")
        }
        #expect(try Checkout.text(fixture.folder.appending("file")) == "mine")
        #expect(!FileManager.default.fileExists(atPath: fixture.folder.appending("file.lock").path))
        let served = try await ServedCommand.start(fixture, ["--listen", "own.sock", "--outbox-key", "outbox.key"])
        let sent = try served.ask("/v1/messages", Self.message)
        #expect(sent.status == "202", "\(sent.body)")
        #expect(served.stop() == .exited(0))
    }

    @Test("a socket that is removed, renamed, or replaced is reported once, and the service goes on")
    func lostSockets() async throws {
        let fixture = try await SendingFixture()
        let places = ["--listen", "own.sock", "--phones", "phones.sock"]
        let served = try await ServedCommand.start(fixture, places)
        #expect(try served.ask("/healthz").status == "200")
        let (own, phones) = (fixture.folder.appending("own.sock"), fixture.folder.appending("phones.sock"))
        try FileManager.default.moveItem(at: own, to: fixture.folder.appending("other.sock"))
        try FileManager.default.removeItem(at: phones)
        try Data().write(to: phones)
        try await eventually("a report") { served.errors.contains("was removed or replaced") }
        #expect(try served.curl("--unix-socket", "other.sock", "http://localhost/healthz").status == "200")
        #expect(served.stop() == .exited(0))
        #expect(served.errors.matches(of: /was removed or replaced/).count == 1, "\(served.errors)")
    }
}
