import Foundation
import Glibc
import PushCore
import PushKeyring
import PushService
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// A test of Operations 4.
@Suite("A lost outbox that is restored from an older copy", .blocking) struct RestoreTests {
    @Test(
        "has removed devices and older records again, resends accepted pushes, phones enroll again, and each message is shown once",
        arguments: RestoreDrill.Store.allCases)
    func drill(store: RestoreDrill.Store) async throws {
        let page = try Checkout.text(Checkout.folder.appending(path: "Docs/Operations.md"))
        for command in [#"sqlite3 -readonly outbox.sqlite ".backup "#, "pg_dump --format=custom --schema=sealed_push "]
        {
            #expect(page.contains("(umask 077; \(command)"), "\(command)")
        }
        let drill = try await RestoreDrill(over: store)
        var served = try await drill.serve()
        for phone in 1...3 { try await drill.launch(phone, served) }
        #expect(try drill.send("one", served) == (3, 0))
        try drill.work()
        #expect(try drill.send("two", served) == (3, 0))
        try drill.backUp()
        try drill.work()
        try await drill.wait(for: ["one": [1, 2, 3], "two": [1, 2, 3]])

        // Changes after the copy was made.
        try drill.remove(2)
        _ = try drill.apps[2].rotate()
        try await drill.launch(3, served)
        let rotated = try #require(try drill.record(of: 3))
        try await drill.launch(4, served)
        #expect(try drill.send("three", served) == (3, 0))
        #expect(served.stop() == .exited(0))
        try await drill.loseAndRestore()

        // The removed phone is there again, and is removed before sending. The fourth is unknown, and a record is older.
        #expect(try drill.phones() == [1, 2, 3])
        #expect(try drill.status("waiting") == 3)
        try drill.remove(2)
        #expect(try #require(try drill.record(of: 3)).counter < rotated.counter)
        served = try await drill.serve()
        // Idempotency keys in the copy still count. A phone that has rotated also opens messages sealed to its old key.
        #expect(try drill.send("one", served) == (0, 3))
        #expect(try drill.send("four", served) == (2, 0))
        try drill.work()
        try await drill.wait(for: ["four": [1, 3]])

        for phone in [1, 3, 4] { try await drill.launch(phone, served) }
        #expect(try drill.phones() == [1, 3, 4] && drill.record(of: 3) == rotated)
        #expect(try drill.send("three", served) == (3, 0))
        #expect(try drill.send("three", served) == (0, 3))
        try drill.work()
        let expected: [String: [Int]] = ["one": [1, 2, 3], "two": [1, 2, 3], "three": [1, 3, 4], "four": [1, 3]]
        try await drill.wait(for: expected)
        // "two" was sent twice, and replaced itself.
        #expect(try drill.shown() == expected && drill.repeated() == ["two": [1, 3]])
        #expect(served.stop() == .exited(0))
        drill.end()
    }
}

/// Four phones that stay on, and a service whose outbox is copied, lost, and restored.
final class RestoreDrill {
    enum Store: CaseIterable { case file, database }

    let apps: [OwnDevice]
    private let fixture: SendingFixture
    private let database: PostgresServer.Database?
    private let process: ChildProcess
    private var names: [Int: String] = [:]

    init(over store: Store) async throws {
        fixture = try await SendingFixture()
        database = store == .file ? nil : try await PostgresServer.shared.value.database()
        let (folder, sender) = (fixture.folder, try fixture.keyring.senderKey(named: "newsroom").sender.description)
        apps = try (1...4).map { number in
            let standard = StandardConfiguration(
                topic: SendingFixture.topic, senders: [sender], safeDefault: "safe default", allowsAnonymous: false)
            let app = SimulatedDevice(container: folder.appending("States/phone-\(number)")).app(standard)
            _ = try #require(app).enroll(at: .now().advanced(bySeconds: -3_600))
            return try #require(app)
        }
        let output = try folder.write("", to: "phones")
        process = try Program("device-simulator", in: folder.url).start(
            [
                "run", "--device", "phone", "--count", "4", "--apns", "APNs", "--topic", SendingFixture.topic,
                "--keyring", "None", "--trust", sender, "--state", "States", "--json",
            ], output: FileHandle(forWritingTo: URL(filePath: output)))
        try await eventually("the phones are on") { try self.events("online").count == 4 }
    }

    deinit { process.kill() }

    func end() {
        Glibc.kill(process.identifier, SIGINT)
        #expect(process.wait() == .exited(0))
    }

    private var place: [String] {
        ["--outbox", database?.address ?? "outbox.sqlite", "--outbox-key", "outbox.key"]
    }

    private func run(_ arguments: String...) throws -> Program.Result {
        let result = try fixture.run(arguments + place)
        #expect(result.status == 0, "\(arguments): \(result.errors)")
        return result
    }

    // MARK: The service

    func serve() async throws -> ServedCommand {
        try await ServedCommand.start(fixture, place + ["--listen", "own.sock", "--phones", "127.0.0.1:0"])
    }

    /// Does what the phone's app does at each launch.
    func launch(_ phone: Int, _ served: ServedCommand) async throws {
        let port = try #require((served.place["phones"] as? [String: Any])?["port"] as? Int)
        let answer = try served.ask("/v1/logins", #"{"user":"user-\#(phone)"}"#).body
        let login = try #require(
            try (JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any])?["token"] as? String)
        let client = PushServerClient(url: try #require(URL(string: "http://127.0.0.1:\(port)"))) { "Bearer \(login)" }
        let online = try events("online").first { $0["device"] as? String == "phone-\(phone)" }
        let token = try #require(Hex.decode(online?["token"] as? String ?? ""))
        var update: PushRegistration
        repeat {
            try Task.checkCancellation()
            update = await client.register(apps[phone - 1], token: token, environment: .production, at: .now())
        } while update.problems.contains { $0.error == .unreachable }
        #expect(update.isRegistered, "\(update.problems)")
        names[phone] = update.device
    }

    /// Sends a message to everyone with its text as idempotency key. Returns the numbers of new and already enqueued pushes.
    func send(_ text: String, _ served: ServedCommand) throws -> (Int, Int) {
        let answer = try served.ask(
            "/v1/messages", #"{"all":true,"key":"\#(text)","content":{"alert":{"body":"\#(text)"}}}"#)
        #expect(answer.status == "202", "\(answer.body)")
        let counts = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
        return (counts?["enqueued"] as? Int ?? -1, counts?["alreadyEnqueued"] as? Int ?? -1)
    }

    func work() throws { _ = try run("work", "--apns", "APNs", "--until-empty") }

    // MARK: The operator

    /// Backs up the outbox while the service runs.
    func backUp() throws {
        let folder = fixture.folder.url
        let result =
            if let database {
                try Self.client("pg_dump").run(
                    "--format=custom", "--schema=sealed_push", "--file=\(fixture.folder.appending("copy").path)",
                    database.address)
            } else {
                try Program(at: "/usr/bin/sqlite3", in: folder).run("-readonly", "outbox.sqlite", ".backup copy")
            }
        try #require(result.status == 0, "\(result.errors)")
    }

    func loseAndRestore() async throws {
        let (folder, files) = (fixture.folder, FileManager.default)
        if let database {
            try await database.run("DROP SCHEMA sealed_push CASCADE")
            let result = try Self.client("pg_restore").run(
                "--exit-on-error", "--dbname=\(database.address)", folder.appending("copy").path)
            try #require(result.status == 0, "\(result.errors)")
        } else {
            for suffix in ["", "-wal", "-shm"] { try? files.removeItem(at: folder.appending("outbox.sqlite\(suffix)")) }
            try files.copyItem(at: folder.appending("copy"), to: folder.appending("outbox.sqlite"))
        }
    }

    private static func client(_ name: String) throws -> Program {
        Program(at: try #require(PostgresServer.programs).appending(path: name).path)
    }

    func remove(_ phone: Int) throws { _ = try run("device", "remove", "--yes", #require(names[phone])) }

    /// Returns the phones that are registered in the outbox.
    func phones() throws -> [Int] {
        try devices().keys.compactMap { name in names.first { $0.value == name }?.key }.sorted()
    }

    func record(of phone: Int) throws -> DeviceRecord? {
        try (devices()[names[phone] ?? ""]?["record"] as? String).map { try DeviceRecord(parsing: $0) }
    }

    private func devices() throws -> [String: [String: Any]] {
        let listed = try run("device", "list", "--full", "--json").objects
        return Dictionary(listed.map { ($0["device"] as? String ?? "", $0) }) { first, _ in first }
    }

    func status(_ name: String) throws -> Int? {
        try run("outbox", "status", "--json").objects.first?[name] as? Int
    }

    // MARK: The people

    /// Returns the phones on which each text appeared.
    func shown() throws -> [String: [Int]] { try notifications(thatReplace: false) }

    /// Returns the phones on which each text replaced itself.
    func repeated() throws -> [String: [Int]] { try notifications(thatReplace: true) }

    func wait(for expected: [String: [Int]]) async throws {
        try await eventually("phones show \(expected)") {
            let shown = try self.shown()
            return expected.allSatisfy { shown[$0.key] == $0.value }
        }
    }

    private func notifications(thatReplace isReplacement: Bool) throws -> [String: [Int]] {
        var shown: [String: [Int]] = [:]
        for event in try events("notification") where event["replaced"] as? Bool == isReplacement {
            let phone = (event["device"] as? String)?.split(separator: "-").last.flatMap { Int($0) } ?? 0
            let text = event["outcome"] as? String == "opened" ? event["body"] as? String : nil
            shown[text ?? "\(event["reason"] ?? "nothing")", default: []].append(phone)
        }
        return shown.mapValues { $0.sorted() }
    }

    private func events(_ event: String) throws -> [[String: Any]] {
        try Checkout.text(fixture.folder.appending("phones")).split(separator: "\n").compactMap {
            (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
        }.filter { $0["event"] as? String == event }
    }
}
