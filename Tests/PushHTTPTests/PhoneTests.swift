import Foundation
import PushCore
import PushHTTP
import PushOutbox
import PushSender
import PushService
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@Suite("A phone and its server", .blocking)
struct PhoneTests {
    @Test("one call fetches the sender set, enrolls, and proves the key; the next call has nothing to do")
    func enrolls() async throws {
        try await RunningServer.with { server in
            let phone = try server.phone("phone")
            let first = try await server.update(phone, as: "alice")
            #expect(first.problems.isEmpty, "\(first.problems)")
            #expect(first.isRegistered && first.senderSet?.counter == 1)
            let devices = try await server.outbox.devices(of: "alice")
            #expect(devices.map(\.name.description) == [first.device])
            #expect(first.device?.hasPrefix("phone-") == true, "a name that no command takes for an option")
            let enrolled = try #require(devices[0].enrolled)
            #expect(enrolled.record == first.maintenance?.record && enrolled.unproven.isEmpty)
            #expect(
                devices[0].address.address
                    == Address.apns(try #require(DeviceToken(parsing: String(repeating: "01", count: 32)))))

            let second = try await server.update(phone, as: "alice")
            #expect(second.problems.isEmpty && second.isRegistered)
            #expect(second.maintenance?.record == first.maintenance?.record)
            let message: [String: Any] = ["user": "alice", "key": "a", "content": ["alert": ["title": "Nina"]]]
            let sent = try server.post("/v1/messages", message)
            #expect(sent.status == 202 && sent.json["enqueued"] as? Int == 1, "\(sent.body)")
            let again = try server.post("/v1/messages", message)
            #expect(again.status == 202 && again.json["alreadyEnqueued"] as? Int == 1, "\(again.body)")
        }
    }

    @Test("the response to a record with as many and as large keys as possible has at most 65,536 bytes")
    func largestResponse() async throws {
        try await RunningServer.with { server in
            let (key, now) = (EnrollmentPrivateKey(), Timestamp.now())
            // A seventh hybrid key doesn't fit into a record.
            let keys = (0..<16).map { DevicePrivateKey($0 < 6 ? .hybrid : .x25519).recipient }
            let record = try DeviceRecord(
                of: keys, topic: RunningServer.topic, counter: 1, created: now,
                expires: now.advanced(bySeconds: 86_400), signedBy: key)
            let response = try server.send(
                "PUT", "/v1/phones/\(key.enrollment)",
                RunningServer.json(["record": record.description, "token": "0102", "environment": "production"]),
                token: server.login("alice"))
            #expect((response.json["challenges"] as? [Any])?.count == 16)
            #expect(response.body.utf8.count <= 65_536, "\(response.body.utf8.count)")
        }
    }

    @Test("a new key is proven beside the old one, and a changed token is stored") func rotates() async throws {
        try await RunningServer.with { server in
            let phone = try server.phone("phone")
            let first = try await server.update(phone, as: "alice")
            _ = try phone.rotate()
            let second = try await server.update(phone, as: "alice", token: 2)
            #expect(second.problems.isEmpty && second.isRegistered && second.device == first.device)
            let device = try #require(try await server.outbox.devices(of: "alice").first)
            #expect(device.enrolled?.record.recipients.count == 2 && device.enrolled?.unproven == [])
            #expect(device.address.address?.bytes == [UInt8](repeating: 2, count: 32))
        }
    }

    @Test(
        "a phone whose record also lists a key of a later algorithm enrolls, rotates, and gets messages",
        arguments: RunningServer.Store.allCases)
    func laterAlgorithm(store: RunningServer.Store) async throws {
        try await RunningServer.asProgram(over: store) { server in
            let (key, old, new) = (EnrollmentPrivateKey(), DevicePrivateKey(), DevicePrivateKey())
            let (path, login) = ("/v1/phones/\(key.enrollment)", try server.login("alice"))
            for (counter, identities) in [(1, [old]), (2, [new, old])] as [(UInt64, [DevicePrivateKey])] {
                let now = Timestamp.now()
                let record = try DeviceRecord(
                    of: identities.map(\.recipient), topic: RunningServer.topic, counter: counter, created: now,
                    expires: now.advanced(bySeconds: 86_400), signedBy: key
                ).adding([UInt8](repeating: 7, count: 1_568), signedBy: key)
                let body = ["record": record.description, "token": "0102", "environment": "production"]
                let put = try await server.insist("PUT", path, RunningServer.json(body), token: login)
                let asked = try #require(put.json["challenges"] as? [[String: String]], "\(put.body)")
                #expect(put.status == 200 && asked.count == 1)
                let answer = try Challenge.answer(
                    #require(asked[0]["challenge"]), enrollment: key.enrollment, topic: RunningServer.topic,
                    keys: InMemoryKeyStore(identities.map { DeviceKey($0, created: now) }),
                    trusting: [server.sender.sender])
                let answered = RunningServer.json(["answer": answer, "state": asked[0]["state"] ?? ""])
                let proof = try await server.insist("POST", path + "/answers", answered, token: login)
                #expect(proof.status / 100 == 2, "\(proof.body)")
                let sent = try server.post(
                    "/v1/messages", ["user": "alice", "key": "\(counter)", "content": ["alert": ["title": "Nina"]]])
                #expect(sent.status == 202 && sent.json["enqueued"] as? Int == 1, "\(sent.body)")
                let enrolled = try #require(try await server.outbox.devices(of: "alice").first?.enrolled)
                #expect(enrolled.record.description == record.description && enrolled.unproven.isEmpty)
            }
        }
    }

    @Test("a phone restored from a backup learns the server's counter, and uses a higher one")
    func restored() async throws {
        try await RunningServer.with { server in
            let phone = try server.phone("phone")
            _ = try await server.update(phone, as: "alice")
            let (place, backup) = (server.folder.appending("phone"), server.folder.appending("backup"))
            try FileManager.default.copyItem(at: place, to: backup)
            // Far ahead of the clock, so that the time alone doesn't give a higher counter.
            for _ in 1...3 { _ = try phone.revoke() }
            let ahead = try phone.revoke(at: .now().advanced(bySeconds: 3_600))
            #expect(try await server.update(phone, as: "alice").isRegistered)
            try FileManager.default.removeItem(at: place)
            try FileManager.default.moveItem(at: backup, to: place)
            let update = try await server.update(phone, as: "alice")
            #expect(update.problems.isEmpty && update.isRegistered, "\(update.problems)")
            let known = try #require(try await server.outbox.devices(of: "alice").first?.enrolled)
            #expect(known.record.counter > ahead.counter && known.unproven.isEmpty)
        }
    }

    @Test("an old record is refused with the newest one, and the token that came with it is still stored")
    func replayed() async throws {
        try await RunningServer.with { server in
            let phone = try server.phone("phone")
            let old = try phone.enroll()
            #expect(try await server.update(phone, as: "alice").isRegistered)
            _ = try phone.rotate()
            #expect(try await server.update(phone, as: "alice").isRegistered)
            let login = try server.login("alice")
            let body = ["record": old.description, "token": "abcd", "environment": "sandbox"]
            let path = "/v1/phones/\(old.enrollment)"
            let answer = try server.send("PUT", path, RunningServer.json(body), token: login)
            #expect(answer.status == 409 && answer.code == "rolled-back")
            let device = try #require(try await server.outbox.devices(of: "alice").first)
            #expect(answer.json["record"] as? String == device.enrolled?.record.description)
            #expect(device.address.address == Address.apns(try #require(DeviceToken(parsing: "abcd")), .sandbox))
            let other = "/v1/phones/\(EnrollmentPrivateKey().enrollment)"
            #expect(try server.send("PUT", other, RunningServer.json(body), token: login).code == "malformed")
        }
    }

    @Test("a request with a name of more than 256 bytes is refused for that, and one with a long hostile value, too")
    func hostileTexts() async throws {
        try await RunningServer.with { server in
            let phone = try server.phone("phone")
            let path = "/v1/phones/\(try phone.enroll().enrollment)"
            let login = try server.login("alice")
            let marks = String(repeating: "\u{301}", count: 15_500) + String(repeating: "\u{316}", count: 15_500)
            for (body, words) in [
                ("{\"\(String(repeating: "n", count: 257))\":1}", "256 bytes"),
                ("{\"a\(marks)\":1,\"b\":2}", "256 bytes"),
                (#"{"record":"r","token":"00","environment":"a\#(marks)"}"#, "expected production or sandbox"),
            ] {
                let answer = try server.send("PUT", path, body, token: login)
                #expect(answer.status == 400 && answer.code == "malformed")
                #expect(answer.body.contains(words))
            }
        }
    }

    @Test("two phones of one account each have their own registration")
    func several() async throws {
        try await RunningServer.with { server in
            let phones = try ["one", "two"].map { try server.phone($0) }
            async let first = server.update(phones[0], as: "alice", token: 1)
            async let second = server.update(phones[1], as: "alice", token: 2)
            let updates = try await [first, second]
            #expect(updates.allSatisfy { $0.isRegistered })
            #expect(Set(updates.compactMap(\.device)).count == 2)
            #expect(try await server.outbox.devices(of: "alice").count == 2)
        }
    }

    @Test("another app's account on the same outbox can't remove a phone, even if it knows the enrollment key")
    func otherApp() async throws {
        try await RunningServer.with { server in
            #expect(try await server.update(server.phone("phone"), as: "alice").isRegistered)
            let enrolled = try #require(try await server.outbox.devices(of: "alice").first?.enrolled)
            try await RunningServer.with(outbox: server.outbox, topic: "com.example.bank") { bank in
                let path = "/v1/phones/\(enrolled.record.enrollment)"
                let answer = try bank.send("DELETE", path, token: bank.login("alice"))
                #expect(answer.status == 204)
            }
            #expect(try await server.outbox.devices(of: "alice").count == 1)
        }
    }

    @Test("an app that logs out leaves; only then can another account's login take the phone")
    func unregisters() async throws {
        try await RunningServer.with { server in
            let phone = try server.phone("phone")
            #expect(try await server.update(phone, as: "alice").isRegistered)
            let early = try await server.update(phone, as: "bob")
            #expect(!early.isRegistered)
            #expect(early.problems.map(\.error) == [.refused(status: 409, code: "enrolled-elsewhere")])
            try await server.client("alice").unregister(phone)
            try await server.client("alice").unregister(phone)
            #expect(try await server.outbox.devices(of: "alice").isEmpty)
            #expect(try await server.update(phone, as: "bob").isRegistered)
        }
    }

    @Test("an app that logged out offline leaves later, without a login, and later registrations still work")
    func leavesLater() async throws {
        try await RunningServer.with { server in
            let phone = try server.phone("phone")
            #expect(try await server.update(phone, as: "alice").isRegistered)
            let away = PushServerClient(url: URL(string: "http://127.0.0.1:1")!) { throw CancellationError() }
            await #expect(throws: PushServerError.unreachable) { try await away.unregister(phone) }
            #expect(try await server.outbox.devices(of: "alice").count == 1)
            for token in [nil, "pushlogin.1.1.YQ.AAAA"] {
                let later = PushServerClient(url: server.url) {
                    guard let token else { throw CancellationError() }
                    return "Bearer \(token)"
                }
                try await later.unregister(phone)
                #expect(try await server.outbox.devices(of: "alice").isEmpty)
                #expect(try await server.update(phone, as: "bob").isRegistered)
                try await server.client("bob").unregister(phone)
            }
        }
    }

    @Test("a phone ignores members of a response that it doesn't know, at any depth") func laterServer() async throws {
        try await RunningServer.with { server in
            let phone = try server.phone("phone", fetcher: LaterServer())
            let update = try await server.update(phone, as: "alice")
            #expect(update.isRegistered && update.problems.isEmpty && update.senderSet != nil)
            try await server.client("alice").sendTest(to: phone)
            let early = try await server.update(phone, as: "bob")
            #expect(early.problems.map(\.error) == [.refused(status: 409, code: "enrolled-elsewhere")])
            try await server.client("alice").unregister(phone)
            #expect(try await server.outbox.devices(of: "alice").isEmpty)
        }
    }

    /// A network that adds unknown members to each object of each response in JSON, as a later server may.
    private struct LaterServer: Fetching {
        private let fetcher = CurlFetching(patience: .seconds(600))

        func exempts(_ host: NetworkHost) -> Bool { fetcher.exempts(host) }
        var patience: Duration { fetcher.patience }

        func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer {
            let collected = Locked<[UInt8]>([])
            var inner = request
            inner.take = { (bytes) throws(MediaError) in collected.withLock { $0 += bytes } }
            let answer = try await fetcher.fetch(inner)
            let bytes = collected.withLock { $0 }
            let later =
                (try? JSONSerialization.jsonObject(with: Data(bytes)))
                .flatMap { try? JSONSerialization.data(withJSONObject: Self.later($0)) }
            var refusal: MediaError?
            Array(later ?? Data(bytes)).withUnsafeBytes { bytes in
                guard !bytes.isEmpty else { return }
                do throws(MediaError) { try request.take(bytes) } catch { refusal = error }
            }
            if let refusal { throw refusal }
            return answer
        }

        private static func later(_ value: Any) -> Any {
            if let values = value as? [Any] { return values.map(later) }
            guard var members = (value as? [String: Any])?.mapValues(later) else { return value }
            (members["later"], members["x-later"]) = ([["deeper": NSNull()]], 1)
            return members
        }
    }

    @Test("a phone that leaves another service stays here, unless its login removes it") func otherService()
        async throws
    {
        try await RunningServer.with { server in
            let phone = try server.phone("phone")
            #expect(try await server.update(phone, as: "alice").isRegistered)
            let login = try server.login("alice")
            let stray = PushServerClient(url: server.url, service: "staging") { "Bearer no" }
            await #expect(throws: PushServerError.self) { try await stray.unregister(phone) }
            #expect(try await server.outbox.devices(of: "alice").count == 1)
            let again = try server.phone("other")
            #expect(try await server.update(again, as: "alice").isRegistered)
            let own = PushServerClient(url: server.url, service: "staging") { "Bearer \(login)" }
            try await own.unregister(again)
            #expect(try await server.outbox.devices(of: "alice").count == 1)
        }
    }

    @Test("a registration in progress at logout enrolls nothing afterward") func logoutMeanwhile() async throws {
        try await RunningServer.with { server in
            let phone = try server.phone("phone")
            #expect(try await server.update(phone, as: "alice").isRegistered)
            let (login, url, own) = (try server.login("alice"), server.url, try server.client("alice"))
            let (asked, release) = (Locked(false), Locked(false))
            let slow = PushServerClient(url: url) {
                asked.withLock { $0 = true }
                while !release.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
                return "Bearer \(login)"
            }
            async let registering = slow.register(phone, token: [1], environment: .production, at: .now())
            try await eventually("the login is requested") { asked.withLock { $0 } }
            async let leaving: Void = own.unregister(phone)
            // Without turns, it would be done by now, or soon.
            try await Task.sleep(for: .seconds(1))
            release.withLock { $0 = true }
            _ = await registering
            try await leaving
            #expect(try await server.outbox.devices(of: "alice").isEmpty)
        }
    }

    @Test("a phone's test push arrives; there are five an hour, and none before a key is proven") func tests()
        async throws
    {
        try await RunningServer.with { server in
            let phone = try server.phone("phone")
            let client = try server.client("alice")
            await #expect(throws: PushServerError.self) { try await client.sendTest(to: phone) }
            #expect(try await server.update(phone, as: "alice").isRegistered)
            for _ in 1...5 { try await client.sendTest(to: phone) }
            let refused = PushServerError.refused(status: 429, code: "too-many-requests")
            await #expect(throws: refused) { try await client.sendTest(to: phone) }
            // Another account's login can't send tests to this one.
            await #expect(throws: PushServerError.refused(status: 404, code: "unknown-device")) {
                try await server.client("bob").sendTest(to: phone)
            }
            #expect(try await server.outbox.status().waitingCount == 5)
        }
    }

    @Test(
        "pushes for an account that are still held can't be opened after logout, with or without a network"
    )
    func heldPushes() async throws {
        try await RunningServer.with { server in
            let phone = try server.phone("phone")
            func show(_ payload: SealedPayload) throws -> [String: Any] {
                let file = try server.folder.write(String(decoding: payload.json, as: UTF8.self), to: "push.json")
                let result = try Program("device-simulator").run([
                    "deliver", file, "--device", "phone", "--trust", server.sender.sender.description, "--topic",
                    RunningServer.topic.description, "--keyring", server.folder.appending("None").path, "--state",
                    server.folder.appending("phone").path, "--json",
                ])
                return try #require(
                    try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any],
                    "\(result.errors)")
            }
            func held(for user: UserName, _ body: String) async throws -> SealedPayload {
                let device = try #require(try await server.outbox.devices(of: user).first?.enrolled)
                let recipient = try device.recipient(at: .now())
                let sealer = Sealer(sender: server.sender, topic: RunningServer.topic, safeDefault: "safe default")
                return try sealer.seal(Content(body: body), to: recipient)
            }
            for (user, isReachable) in [("alice", false), ("alice", true), ("bob", true)] {
                #expect(try await server.update(phone, as: user).isRegistered)
                let payloads = try await [
                    held(for: UserName(parsing: user)!, "one"), held(for: UserName(parsing: user)!, "two"),
                ]
                #expect(try show(payloads[0])["outcome"] as? String == "opened")
                let away = PushServerClient(url: URL(string: "http://127.0.0.1:1")!) { "Bearer x" }
                if isReachable {
                    try await server.client(user).unregister(phone)
                } else {
                    await #expect(throws: PushServerError.unreachable) { try await away.unregister(phone) }
                }
                let shown = try show(payloads[1])
                #expect(shown["reason"] as? String == "unknown-recipient" && shown["outcome"] as? String != "opened")
            }
        }
    }

    @Test("submitting another user's record proves nothing, shuts no one out, and can't relay its challenge")
    func othersRecord() async throws {
        try await RunningServer.with { server in
            let phone = try server.phone("phone")
            let record = try phone.enroll()
            let body: [String: Any] = [
                "record": record.description, "token": String(repeating: "ee", count: 32), "environment": "production",
            ]
            let path = "/v1/phones/\(record.enrollment)"
            let mallory = try server.send("PUT", path, RunningServer.json(body), token: server.login("mallory"))
            #expect(mallory.status == 200)
            let challenge = try #require((mallory.json["challenges"] as? [[String: String]])?.first)
            // Alice's phone wouldn't answer a challenge from elsewhere. If it did, the answer would be valid only in
            // Mallory's login.
            _ = try phone.accept(
                senderSet: RunningServer.set(server.sender, server.authority, 1, at: .now()).description, at: .now())
            let answer = try phone.answer(challenge: #require(challenge["challenge"]))
            let answered = RunningServer.json(["answer": answer, "state": challenge["state"] ?? ""])
            let foreign = try server.send("POST", path + "/answers", answered, token: server.login("alice"))
            #expect(foreign.status == 409 && foreign.code == "unknown-challenge")
            #expect(try await server.update(phone, as: "alice").isRegistered)
            #expect(try await server.outbox.devices(of: "mallory").isEmpty)
            let late = try server.send("PUT", path, RunningServer.json(body), token: server.login("mallory"))
            #expect(late.status == 409 && late.code == "enrolled-elsewhere")
        }
    }

    @Test("a failing step doesn't prevent the other steps") func independent() async throws {
        let stranger = AuthorityPrivateKey()
        let set = { (now: Timestamp) in try RunningServer.set(SenderPrivateKey(), stranger, 5, at: now) }
        try await RunningServer.with(senderSet: set) { server in
            // The set is a stranger's; the sender is built in.
            let phone = try server.phone("one", senders: [server.sender.sender.description])
            let update = try await server.update(phone, as: "alice")
            #expect(update.problems.map(\.step) == [.senderSet] && update.isRegistered)
            // This phone trusts no sender: the challenge stays unanswered, but the token is stored.
            let other = try await server.update(server.phone("two"), as: "bob")
            #expect(other.problems.map(\.step) == [.senderSet, .challenge] && !other.isRegistered)
            #expect(other.problems.last?.error == .challenge(.unknownSender))
            let device = try #require(try await server.outbox.devices(of: "bob").first)
            #expect(device.address.address != nil && device.enrolled?.proven == [])
        }
    }

    @Test("without a server, a login, or TLS, the keys are still maintained, and the result says what is wrong")
    func unreachable() async throws {
        var phone: OwnDevice?
        var url: URL?
        let folder = try TemporaryFolder()
        try await RunningServer.with { server in
            url = server.url
            let standard = StandardConfiguration(
                topic: RunningServer.topic.description, senders: [], safeDefault: "x", allowsAnonymous: false)
            phone = SimulatedDevice(container: folder.appending("phone")).app(standard)
        }
        let (device, gone) = (try #require(phone), try #require(url))
        let clients: [(PushServerClient, PushServerError)] = [
            (PushServerClient(url: gone) { "Bearer x" }, .unreachable),
            (PushServerClient(url: gone) { throw CancellationError() }, .noAuthorization),
            (PushServerClient(url: gone) { "Bearer x\r\nHost: y" }, .noAuthorization),
            (PushServerClient(url: URL(string: "http://push.example.com")!) { "Bearer x" }, .notSecure),
        ]
        for (client, error) in clients {
            let update = await client.register(device, token: [1], environment: .production, at: .now())
            #expect(update.problems.map(\.error) == [error])
            #expect(update.maintenance != nil && !update.isRegistered)
        }
    }

    @Test("a caller that has waited too long for its turn is told to retry, and nothing was done")
    func turns() async throws {
        var limits = ServerLimits.unhurried
        limits.admissionPatience = .seconds(-1)
        try await RunningServer.with(limits: limits) { server in
            let phone = try server.phone("one")
            let client = try server.client("alice")
            let update = await client.register(phone, token: [1], environment: .production, at: .now())
            #expect(update.problems.map(\.error).contains(.refused(status: 503, code: "unavailable")))
            let path = "/v1/phones/\(try phone.enroll().enrollment)"
            let answer = try server.send("DELETE", path, token: server.login("alice"))
            #expect(answer.status == 503 && answer.head.lowercased().contains("retry-after: 10\r\n"))
            #expect(try await server.outbox.devices(of: "alice").isEmpty)
        }
    }

    @Test(
        "many phones, two per account, enroll and rotate at once amid old records and others' answers",
        arguments: RunningServer.Store.allCases)
    func crowd(store: RunningServer.Store) async throws {
        let count = Thoroughness.count(12, thorough: 1_000)
        try await RunningServer.asProgram(over: store) { server in
            let phones = try (0..<count).map { try server.phone("phone \($0)") }
            let logins = try (0..<count / 2).map { try server.login("user \($0)", seconds: 3_600) }
            // The rate limit applies to each account.
            let strangers = try (0...count / 20).map { try server.login("stranger \($0)", seconds: 3_600) }
            let update = { @Sendable (index: Int) async throws -> PushRegistration in
                let token = withUnsafeBytes(of: index.bigEndian) { Array($0) }
                return try await server.update(phones[index], with: logins[index / 2], token: token)
            }
            let life = { @Sendable (index: Int) async throws in
                let phone = phones[index]
                let old = try phone.enroll()
                let path = "/v1/phones/\(old.enrollment)"
                let body = RunningServer.json(["record": old.description, "token": "abcd", "environment": "production"])
                // A stranger submits this phone's record before the phone does. The challenge isn't valid in any other
                // login.
                let taken = try await server.insist("PUT", path, body, token: strangers[index / 20])
                #expect(try await update(index).isRegistered)
                let asked = try #require((taken.json["challenges"] as? [[String: String]])?.first)
                let answer = try phone.answer(challenge: #require(asked["challenge"]))
                let foreign = RunningServer.json(["answer": answer, "state": asked["state"] ?? ""])
                let refused = try await server.insist("POST", path + "/answers", foreign, token: logins[index / 2])
                #expect(refused.code == "unknown-challenge")
                // Two calls of the app collide: one rotates, and the other submits the previous state.
                async let other = update(index)
                _ = try phone.rotate()
                _ = try await other
                #expect(try await update(index).isRegistered)
                let older = try await server.insist("PUT", path, body, token: logins[index / 2])
                #expect(older.code == "rolled-back")
                #expect(try await update(index).isRegistered)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<count { group.addTask { try await life(index) } }
                try await group.waitForAll()
            }
            var names: Set<DeviceName> = []
            for user in 0..<count / 2 {
                let devices = try await server.outbox.devices(of: #require(UserName(parsing: "user \(user)")))
                #expect(devices.count == 2)
                for device in devices {
                    #expect(device.enrolled?.unproven == [] && device.enrolled?.record.recipients.count == 2)
                    names.insert(device.name)
                }
            }
            #expect(names.count == count)
            for number in strangers.indices {
                #expect(try await server.outbox.devices(of: #require(UserName(parsing: "stranger \(number)"))).isEmpty)
            }
        }
    }
}

extension RegisteredDevice {
    var enrolled: EnrolledDevice? {
        guard case .enrolled(let enrolled) = keys else { return nil }
        return enrolled
    }
}
