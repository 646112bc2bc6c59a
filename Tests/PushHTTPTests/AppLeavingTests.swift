import Foundation
import PushApp
import PushCore
import PushOutbox
import PushSender
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushService

/// Logs an app in, out, and in again.
extension AppPushesTests {
    /// What a back end answers at the path of leavings, and the one with a page also where it has no sender set.
    enum BackEnd: CaseIterable {
        case leavings
        case jsonNotFound
        case pageNotFound
        case wrongMethod
        case loginFirst
        case notImplemented
        case pageForEverything
    }

    /// What is wrong at the first logout.
    enum Trouble: CaseIterable {
        case none
        case offline
        /// Every request fails at the server.
        case serverFails
        /// Only the requests fail by which a phone leaves.
        case leavingFails
        case loginEnded
    }

    /// The network between a phone and a server, whose answers pass unless a back end or trouble gives its own.
    struct Middlebox: Fetching {
        let backEnd: BackEnd
        let trouble = Locked(Trouble.none)
        /// Whether a registration must wait.
        let holds = Locked(false)
        let isHeld = Locked(false)
        private let fetcher = CurlFetching(patience: .seconds(600))

        init(_ backEnd: BackEnd) { self.backEnd = backEnd }

        func exempts(_ host: NetworkHost) -> Bool { fetcher.exempts(host) }
        var patience: Duration { fetcher.patience }

        func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer {
            let isLeaving = request.url.path.hasSuffix("/v1/leavings")
            if request.method == "PUT" {
                while holds.withLock({ $0 }) {
                    isHeld.withLock { $0 = true }
                    do { try await Task.sleep(for: .milliseconds(10)) } catch { throw .network }
                }
            }
            switch trouble.withLock({ $0 }) {
            case .offline: throw .network
            case .serverFails: return try Self.answer(500, "oops", to: request)
            case .leavingFails where isLeaving || request.method == "DELETE":
                return try Self.answer(500, #"{"code":"broken"}"#, to: request)
            case .none, .leavingFails, .loginEnded: break
            }
            if backEnd == .pageNotFound, request.url.path.hasSuffix("/v1/sender-set") {
                return try Self.answer(404, "<pre>Cannot GET /v1/sender-set</pre>", to: request)
            }
            guard isLeaving else { return try await fetcher.fetch(request) }
            switch backEnd {
            case .leavings: return try await fetcher.fetch(request)
            case .jsonNotFound: return try Self.answer(404, #"{"detail":"Not Found"}"#, to: request)
            case .pageNotFound: return try Self.answer(404, "<pre>Cannot POST /v1/leavings</pre>", to: request)
            case .wrongMethod: return try Self.answer(405, "", to: request)
            case .loginFirst: return try Self.answer(401, #"{"code":"unauthorized"}"#, to: request)
            case .notImplemented: return try Self.answer(501, "", to: request)
            case .pageForEverything: return try Self.answer(200, "<!doctype html>", to: request)
            }
        }

        private static func answer(
            _ status: Int, _ body: String, to request: FetchRequest
        ) throws(MediaError) -> FetchAnswer {
            let answer = FetchAnswer(status: status) { _ in nil }
            guard try request.wantsBody(answer) else { return answer }
            var refusal: MediaError?
            Array(body.utf8).withUnsafeBytes { bytes in
                do throws(MediaError) { try request.take(bytes) } catch { refusal = error }
            }
            if let refusal { throw refusal }
            return answer
        }
    }

    /// A server as the table below needs it.
    private struct Server {
        let url: URL
        /// Begins a login, which is unlike all others, and returns its session.
        let logIn: (_ user: String) async throws -> String
        let endLogins: (_ user: String) async throws -> Void
        let phone: (_ name: String, Middlebox) throws -> OwnDevice
        /// The number of a user's devices that get pushes.
        let deviceCount: (_ user: String) async throws -> Int
        /// Seals a message to a user's only device.
        let seal: (_ user: String) async throws -> SealedPayload?
    }

    private func logsInAgain(
        at server: Server, _ middlebox: Middlebox, _ trouble: Trouble, as next: String, after first: String,
        reinstalls: Bool
    ) async throws {
        let row = Comment(rawValue: "\(middlebox.backEnd) \(trouble) \(first) \(next) \(reinstalls)")
        let (storage, phone) = (Storage(), try server.phone("\(first) \(next) \(reinstalls)", middlebox))
        var pushes = await Self.pushes(on: phone, at: server.url, storage)
        let session = try await server.logIn(first)
        await pushes.logIn(session)
        await pushes.took(token: Data(first.utf8))
        try await enrolled(pushes, row)
        let held = try await server.seal(first)

        if trouble == .loginEnded { try await server.endLogins(first) }
        middlebox.trouble.withLock { $0 = trouble }
        await pushes.logOut()
        // The old login is kept only for a request that may still succeed.
        let isKept = [.offline, .serverFails, .leavingFails].contains(trouble)
        #expect(try storage.saved.leaving == (isKept ? session : nil), row)
        #expect(try storage.saved.session == nil, row)
        if let held {
            await #expect(throws: OpenError.unknownRecipient, row) {
                try await phone.app().open(envelope: held.envelope.text, requestIdentifier: "held")
            }
        }

        if reinstalls {
            // The keychain stays.
            let folder = try #require(phone.environment.folder(phone.configuration.container))
            try FileManager.default.removeItem(at: folder)
            pushes = await Self.pushes(on: phone, at: server.url, storage)
            await pushes.launched()
        }
        await pushes.logIn(try await server.logIn(next))
        if trouble == .leavingFails, next == first {
            // Nothing is left to tell the server: the account has the phone again.
            try await enrolled(pushes, row)
            #expect(try storage.saved.leaving == nil, row)
        }
        if trouble == .leavingFails, next != first {
            #expect(await pushes.status.description.contains("belongs to another account"), row)
        }
        middlebox.trouble.withLock { $0 = .none }
        await pushes.refresh()
        try await enrolled(pushes, row)
        #expect(try storage.saved.leaving == nil, row)
        for user in Set([first, next]) {
            #expect(try await server.deviceCount(user) == (user == next ? 1 : 0), row)
        }
        // Later launches change nothing.
        await pushes.becameActive()
        await pushes.refresh()
        try await enrolled(pushes, row)
        #expect(try await server.deviceCount(next) == 1, row)
        await pushes.logOut()
        #expect(try storage.saved.leaving == nil, row)
        #expect(try await server.deviceCount(next) == 0, row)
    }

    /// Tries again while the server is busy; how long that takes depends on the machine.
    private func enrolled(_ pushes: SealedPushes, _ row: Comment) async throws {
        while case .notRegistered(let problem) = await pushes.status, problem.error.isBusy {
            try await Task.sleep(for: .milliseconds(200))
            await pushes.refresh()
        }
        let status = await pushes.status
        guard case .registered = status else {
            Issue.record("\(row): \(status)")
            return
        }
    }

    @Test(
        "after any logout, any account can log in, the old one gets no more pushes, and nothing of it is kept",
        arguments: BackEnd.allCases, Trouble.allCases)
    func logsInAgain(backEnd: BackEnd, trouble: Trouble) async throws {
        try await RunningServer.with { running in
            let server = Server(
                url: running.url, logIn: { try running.login($0) },
                endLogins: { user in try #require(try running.send("DELETE", "/v1/logins/\(user)").status == 204) },
                phone: { try running.phone($0, senders: [running.sender.sender.description], fetcher: $1) },
                deviceCount: { user in
                    try await running.outbox.devices(of: try #require(UserName(parsing: user)))
                        .filter { $0.address.address != nil }.count
                },
                seal: { user in
                    let devices = try await running.outbox.devices(of: try #require(UserName(parsing: user)))
                    let recipient = try #require(devices.first?.enrolled).recipient(at: .now())
                    return try Sealer(sender: running.sender, topic: RunningServer.topic, safeDefault: "d")
                        .seal(Content(body: "held"), to: recipient)
                })
            let row = BackEnd.allCases.firstIndex(of: backEnd)! + Trouble.allCases.firstIndex(of: trouble)!
            for (number, next) in ["first", "next"].enumerated() {
                for reinstalls in Thoroughness.isThorough ? [false, true] : [(row + number).isMultiple(of: 2)] {
                    let name = "\(number)\(reinstalls)"
                    try await logsInAgain(
                        at: server, Middlebox(backEnd), trouble, as: next + name, after: "first" + name,
                        reinstalls: reinstalls)
                }
            }
        }
    }

    @Test("no account is registered while the old one's keys may still exist") func keysRemain() async throws {
        try await RunningServer.with { server in
            let (storage, phone) = (Storage(), try server.phone("phone", senders: [server.sender.sender.description]))
            let pushes = await Self.pushes(on: phone, at: server.url, storage)
            await pushes.logIn(try server.login("alice"))
            await pushes.took(token: Data([1, 2]))
            let device = try #require(try await server.outbox.devices(of: "alice").first?.enrolled)
            let held = try Sealer(sender: server.sender, topic: RunningServer.topic, safeDefault: "d")
                .seal(Content(body: "held"), to: device.recipient(at: .now()))
            // Without a ledger, no floor can be written, so no key is destroyed.
            let folder = try #require(phone.environment.folder(phone.configuration.container))
            let kept = server.folder.appending("kept")
            try FileManager.default.moveItem(at: folder, to: kept)
            try Data().write(to: folder)
            await pushes.logOut()
            await pushes.logIn(try server.login("bob"))
            #expect(try await server.outbox.devices(of: "bob").isEmpty)
            #expect(await pushes.status == .unfinishedLogout(.device(.noLedger)))
            #expect(try storage.saved.leaving != nil)

            try FileManager.default.removeItem(at: folder)
            try FileManager.default.moveItem(at: kept, to: folder)
            await pushes.refresh()
            #expect(try await server.outbox.devices(of: "alice").isEmpty)
            #expect(try await server.outbox.devices(of: "bob").count == 1)
            await #expect(throws: OpenError.unknownRecipient) {
                try await phone.app().open(envelope: held.envelope.text, requestIdentifier: "held")
            }
        }
    }

    @Test("an app that becomes active while an account is being registered doesn't leave that account")
    func activeMeanwhile() async throws {
        try await RunningServer.with { server in
            let middlebox = Middlebox(.leavings)
            let phone = try server.phone("phone", senders: [server.sender.sender.description], fetcher: middlebox)
            let (storage, session) = (Storage(), try server.login("alice"))
            let pushes = await Self.pushes(on: phone, at: server.url, storage)
            await pushes.logIn(session)
            await pushes.took(token: Data([1, 2]))
            middlebox.trouble.withLock { $0 = .leavingFails }
            await pushes.logOut()
            middlebox.holds.withLock { $0 = true }
            async let loggingIn: Void = pushes.logIn(session)
            try await eventually("the registration waits") { middlebox.isHeld.withLock { $0 } }
            // From now on, the server would take the leaving.
            middlebox.trouble.withLock { $0 = .none }
            async let activating: Void = pushes.becameActive()
            // Without turns, it would wait behind the registration by now, or soon.
            try await Task.sleep(for: .seconds(1))
            middlebox.holds.withLock { $0 = false }
            await loggingIn
            await activating
            #expect(try await server.outbox.devices(of: "alice").count == 1)
            #expect(try storage.saved.leaving == nil)
        }
    }

    @Test(
        "any account can log in after any logout at Examples/FastAPI", arguments: [Trouble.none, .offline, .loginEnded])
    func logsInAgainAtFastAPI(trouble: Trouble) async throws {
        let example = try await FastAPIExample()
        defer { example.stop() }
        let count = Locked(0)
        let server = Server(
            url: example.url,
            logIn: { user in
                let session = count.withLock { count in
                    count += 1
                    return "session\(count)"
                }
                try await example.rows("INSERT INTO login VALUES (sha256('\(session)'), '\(user)')")
                return session
            },
            endLogins: { try await example.rows("DELETE FROM login WHERE account = '\($0)'") },
            phone: { try example.phone($0, fetcher: $1) },
            deviceCount: { user in
                let rows = try await example.rows(
                    "SELECT count(*) FROM sealed_push_device WHERE account = '\(user)' AND proven AND token IS NOT NULL"
                )
                return try #require(rows.first?.first.flatMap { $0 }.flatMap { Int($0) })
            },
            seal: { _ in nil })
        for next in ["first", "next"] {
            try await logsInAgain(
                at: server, Middlebox(.leavings), trouble, as: next, after: "first", reinstalls: next == "first")
        }
    }
}

extension PushServerError {
    fileprivate var isBusy: Bool {
        guard case .refused(let status, _) = self else { return false }
        return [429, 503].contains(status)
    }
}

extension OwnDevice {
    fileprivate func app() -> ServiceConfiguration {
        var app = configuration
        app.environment = environment
        return app
    }
}
