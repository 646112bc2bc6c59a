import Foundation
import PushService
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// Tests Examples/FastAPI with a real PostgreSQL, a local APNs, and the app's own client. The drill kills it.
@Suite("Examples/FastAPI", .blocking) struct FastAPIExampleTests {
    @Test("the app's client enrolls, rotates, recovers from a restored backup, and leaves") func phone() async throws {
        let server = try await FastAPIExample()
        defer { server.stop() }
        let phone = try server.phone("phone")
        let first = await server.update(phone, as: "alice")
        #expect(first.isRegistered && first.problems.isEmpty, "\(first.problems) \(server.log)")
        let old = try #require(first.maintenance?.record)
        _ = try phone.rotate()
        #expect(await server.update(phone, as: "alice").isRegistered)
        let proven = "SELECT jsonb_array_length(state -> 'proven') FROM sealed_push_device"
        #expect(try await server.rows(proven) == [["2"]])

        // A refused record still has effects: the newest record is returned, and the token is stored (EnrollmentHTTP 3.2, 3.5).
        let path = "/v1/phones/\(old.enrollment)"
        let replayed = try server.send("PUT", path, Self.registration(old, token: "abcd", "sandbox"))
        #expect(replayed.status == 409 && replayed.type == "application/problem+json")
        #expect(
            replayed.json["code"] as? String == "rolled-back" && replayed.json["record"] as? String != old.description)
        #expect(try await server.rows("SELECT token, environment FROM sealed_push_device") == [["abcd", "sandbox"]])

        let (place, backup) = (server.folder.appending("phone"), server.folder.appending("backup"))
        try FileManager.default.copyItem(at: place, to: backup)
        _ = try phone.revoke(at: .now().advanced(bySeconds: 3_600))
        #expect(await server.update(phone, as: "alice").isRegistered)
        try FileManager.default.removeItem(at: place)
        try FileManager.default.moveItem(at: backup, to: place)
        let restored = await server.update(phone, as: "alice")
        #expect(restored.isRegistered && restored.problems.isEmpty, "\(restored.problems)")

        let early = await server.update(phone, as: "bob")
        #expect(early.problems.map(\.error) == [.refused(status: 409, code: "enrolled-elsewhere")])
        for _ in 1...2 { try await server.client("alice").unregister(phone) }
        #expect(await server.update(phone, as: "bob").isRegistered)
        let nobody = await server.update(phone, as: "mallory's guess")
        #expect(nobody.problems.map(\.error) == [.refused(status: 401, code: "unauthorized")])
    }

    @Test(
        "values that PostgreSQL or Apple can't take are refused, and an unanswered push delays no other and is dropped"
    )
    func wrong() async throws {
        let server = try await FastAPIExample()
        defer { server.stop() }
        let phone = try server.phone("phone")
        let update = await server.update(phone, as: "alice")
        let record = try #require(update.maintenance?.record)
        let path = "/v1/phones/\(record.enrollment)"
        for token in ["not hex", "a", "", "abcd\\n", "../3/device/ab", String(repeating: "ab", count: 101)] {
            let answer = try server.send("PUT", path, Self.registration(record, token: token))
            #expect(answer.status == 400 && answer.json["code"] as? String == "malformed", "\(token): \(answer)")
        }
        for other in [path + "%00", "/v1/phones/%00", path.uppercased()] {
            #expect([400, 404].contains(try server.send("PUT", other, Self.registration(record, token: "ab")).status))
        }
        #expect(try server.send("POST", path + "/answers", #"{"answer":"pushanswer.x","state":"y"}"#).status == 400)
        await #expect(throws: (any Error).self) {
            try await server.rows("UPDATE sealed_push_device SET token = 'not hex'")
        }
        let tokens = try await server.rows("SELECT token FROM sealed_push_device")
        #expect(tokens == [[String(repeating: "01", count: 32)]])
        func post(_ text: String, to reader: String = "alice") throws -> Int {
            try server.send("POST", "/messages", #"{"id":"\#(UUID())","to":"\#(reader)","text":"\#(text)"}"#).status
        }
        for text in [#"a\u0000b"#, #"a\ud800b"#, ""] { #expect(try post(text) == 422, "\(text)") }
        #expect(try post("x", to: #"a\u0000b"#) == 422)

        // Pushes that aioapns can't send, at their first and at their last attempt.
        #expect(try post("x", to: "nobody") == 201)
        try await server.rows(
            """
            INSERT INTO push (message, device, payload, headers, attempts)
            SELECT message.id, device.id, 'x', '{}', attempts
            FROM message, sealed_push_device AS device, unnest(ARRAY[0, 99]) AS attempts
            """)
        try await server.wait(for: [["JSONDecodeError"]], "SELECT refused FROM push WHERE refused IS NOT NULL")
        #expect(try post("Lunch at one?") == 201)
        try await server.wait(for: [["BadDeviceToken"]], "SELECT refused FROM push WHERE payload <> 'x'")
    }

    private static func registration(_ record: DeviceRecord, token: String, _ environment: String = "production")
        -> String
    {
        #"{"record":"\#(record)","token":"\#(token)","environment":"\#(environment)"}"#
    }
}

/// The example, run as its README describes.
struct FastAPIExample {
    let folder: TemporaryFolder
    private let database: PostgresServer.Database
    private let running: [ChildProcess]
    private let port: Int
    private let sender = SenderPrivateKey()

    init() async throws {
        folder = try TemporaryFolder()
        database = try await PostgresServer.shared.value.database()
        let example = Checkout.folder.appending(path: "Examples/FastAPI")
        let logins = ["alice", "bob"].map { "INSERT INTO login VALUES (sha256('\($0)'), '\($0)');" }.joined()
        let store = Checkout.folder.appending(path: "Clients/Python/src/sealed_push/postgres.sql")
        let schema = try [store, example.appending(path: "schema.sql")].map { try Checkout.text($0) }.joined()
        try await database.run("SET search_path = public; \(schema) \(logins)")
        let setUp = try Program(at: Checkout.folder.appending(path: "Scripts/setup-python").path).run()
        try #require(setUp.status == 0, "\(setUp.errors)")
        let apns = try Program("device-simulator", in: folder.url).start(["apns", "--folder", "APNs"])
        let address = folder.appending("APNs/address.json")
        let log = try folder.write("", to: "log")
        let environment = [
            "DATABASE_URL": database.address, "LOCAL_APNS": address.path, "PYTHONDONTWRITEBYTECODE": "1",
            "SENDER_SECRET": sender.withSecretText { String(decoding: $0, as: UTF8.self) },
            "PYTHONPATH": Checkout.folder.appending(path: "Clients/Python/src").path,
        ]
        try await eventually("the local APNs") {
            try #require(!apns.hasEnded)
            return FileManager.default.fileExists(atPath: address.path)
        }
        let service = try Program(at: setUp.trimmed, in: example).start(
            ["-m", "uvicorn", "chat:app", "--port", "0"], errors: FileHandle(forWritingTo: URL(filePath: log)),
            environment: environment)
        running = [service, apns]
        var found: Int?
        try await eventually("the service's port") {
            let said = try Checkout.text(URL(filePath: log))
            try #require(!service.hasEnded, "\(said)")
            found = said.firstMatch(of: /http:\/\/127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) }
            return found != nil
        }
        port = try #require(found)
    }

    func stop() {
        for process in running {
            process.kill()
            _ = process.wait()
        }
    }

    var log: String { (try? Checkout.text(folder.appending("log"))) ?? "" }

    @discardableResult func rows(_ statement: String) async throws -> [[String?]] {
        try await database.run("SET search_path = public; \(statement)")
    }

    func wait(for rows: [[String?]], _ statement: String) async throws {
        try await eventually("\(rows) in \(statement)") { try await self.rows(statement) == rows }
    }

    /// - Parameter fetcher: The network between the phone and the service.
    func phone(_ name: String, fetcher: any Fetching = CurlFetching(patience: .seconds(600))) throws -> OwnDevice {
        let standard = StandardConfiguration(
            topic: RunningServer.topic.description, senders: [sender.sender.description], safeDefault: "safe default",
            allowsAnonymous: false)
        let phone = SimulatedDevice(container: folder.appending(name))
        return try #require(phone.app(standard, fetcher: fetcher))
    }

    var url: URL { URL(string: "http://127.0.0.1:\(port)")! }

    func client(_ user: String) -> PushServerClient {
        PushServerClient(url: url) { "Bearer \(user)" }
    }

    /// Repeats until the service isn't busy; how long that takes depends on the machine.
    func update(_ phone: OwnDevice, as user: String) async -> PushRegistration {
        while true {
            let token = [UInt8](repeating: 1, count: 32)
            let update = await client(user).register(phone, token: token, environment: .production, at: .now())
            let isBusy = update.problems.contains {
                $0.error == .refused(status: 503, code: "unavailable")
            }
            guard isBusy, !Task.isCancelled else { return update }
        }
    }

    /// Sends a request as alice, with curl.
    func send(_ method: String, _ path: String, _ body: String) throws -> (
        status: Int, type: String, json: [String: Any]
    ) {
        let result = try Program(at: "/usr/bin/curl").run(
            [
                "-sS", "--path-as-is", "-X", method, "http://127.0.0.1:\(port)\(path)", "-H",
                "Authorization: Bearer alice", "-H",
                "Content-Type: application/json", "--data-binary", "@-", "-w", "\n%{http_code} %{content_type}",
            ], input: body)
        let words = result.output.split(separator: "\n").last?.split(separator: " ").map(String.init) ?? []
        return (words.first.flatMap { Int($0) } ?? 0, words.last ?? "", result.objects.first ?? [:])
    }
}
