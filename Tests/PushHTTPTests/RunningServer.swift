import Foundation
import Logging
import PushOutbox
import PushPostgres
import PushSender
import PushService
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP

/// A server in this process or another, with its outbox, sender, and authority, and everything that phones and a back end
/// need to reach it.
struct RunningServer: Sendable {
    static let topic: Topic = "com.example.app"
    static let token = String(repeating: "t", count: 32)

    let outbox: Outbox
    /// The back end's port.
    let port: Int
    let phonesPort: Int
    let folder: TemporaryFolder
    let sender: SenderPrivateKey
    let authority: AuthorityPrivateKey
    /// The server, or `nil` if it runs in another process.
    let server: PushServer?

    /// The store of its outbox.
    enum Store: CaseIterable {
        case sqlite
        case postgres
    }

    static func with(
        limits: ServerLimits = .unhurried, tokens: String = token, notifyTokens: String? = nil, outbox: Outbox? = nil,
        topic: Topic = topic,
        certificate: ListenerCertificate? = nil, senderSet: ((Timestamp) throws -> SenderSet)? = nil,
        unread: @escaping @Sendable () -> PushServer.Unread? = { nil }, _ body: (RunningServer) async throws -> Void
    ) async throws {
        let (sender, authority, folder) = (SenderPrivateKey(), AuthorityPrivateKey(), try TemporaryFolder())
        let outbox = try outbox ?? Outbox(at: folder.appending("outbox.db").path)
        let now = Timestamp.now()
        let set = try senderSet.map { try $0(now) } ?? Self.set(sender, authority, 1, at: now)
        let server = try PushServer(
            at: .address("127.0.0.1", port: 0), phones: .address("127.0.0.1", port: 0), certificate: certificate,
            outbox: outbox,
            state: ServerState(
                keys: keys(of: sender, topic: topic), senderSet: set, tokens: BearerTokens(parsing: Array(tokens.utf8)),
                notifyTokens: notifyTokens.map { try NotifyTokens(parsing: Array($0.utf8)) }),
            limits: limits, unread: unread, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await serving(stop: server.stop) { listening in
            try await server.run { listening(($0 ?? 0, $1 ?? 0)) }
        } during: { (port, phonesPort) in
            try await body(
                RunningServer(
                    outbox: outbox, port: port, phonesPort: phonesPort, folder: folder, sender: sender,
                    authority: authority, server: server))
        }
    }

    /// Runs a server with TLS at both listeners.
    ///
    /// - Parameter body: Takes the path of its certificate, too.
    static func secure(_ body: (RunningServer, String) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let made = try Program(at: "/usr/bin/openssl", in: folder.url).run(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out",
            "cert.pem")
        try #require(made.status == 0, "\(made.errors)")
        let bytes = { (name: String) in try Array(Data(contentsOf: folder.appending(name))) }
        let certificate = try ListenerCertificate(chain: bytes("cert.pem"), key: bytes("key.pem"))
        try await with(certificate: certificate) { try await body($0, folder.appending("cert.pem").path) }
    }

    /// Runs a server, calls `body` once it listens, and stops it afterward.
    ///
    /// - Parameter run: Calls its argument with the server's ports once it listens.
    static func serving<Ports: Sendable>(
        stop: () async -> Void, _ run: @escaping @Sendable (@escaping @Sendable (Ports) -> Void) async throws -> Void,
        during body: (Ports) async throws -> Void
    ) async throws {
        let (stream, listening) = AsyncStream<Ports>.makeStream()
        let running = Task {
            defer { listening.finish() }
            try await run { listening.yield($0) }
        }
        var iterator = stream.makeAsyncIterator()
        guard let ports = await iterator.next() else { return try await running.value }
        let result: Result<Void, any Error>
        do { result = .success(try await body(ports)) } catch { result = .failure(error) }
        await stop()
        try await running.value
        try result.get()
    }

    /// Runs the program as it ships.
    static func asProgram(over store: Store, _ body: (RunningServer) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let database = store == .postgres ? try await PostgresServer.shared.value.database() : nil
        defer { withExtendedLifetime(database) {} }
        let place = database?.address ?? folder.appending("outbox.db").path
        let outbox =
            database == nil ? try Outbox(at: place) : try await Outbox(postgres: place, patience: .seconds(300))
        let (command, keyring) = (Program("sealedpush"), folder.appending("Keys").path)
        let made = try command.run("keys", "generate", "sender", "newsroom", "--keyring", keyring)
        try #require(made.status == 0, "\(made.errors)")
        let file = try String(contentsOf: folder.appending("Keys/keyring.txt"), encoding: .utf8)
        let secret = try #require(file.components(separatedBy: "secret: ").last?.split(separator: "\n").first)
        let sender = try Array(secret.utf8).withUnsafeBytes { try SenderPrivateKey(parsing: $0) }
        let authority = AuthorityPrivateKey()
        let set = try Self.set(sender, authority, 1, at: .now())
        let tokenFile = try folder.write(token, to: "token")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: tokenFile)
        let (output, errors) = (try folder.write("", to: "output"), try folder.write("", to: "errors"))
        let process = try command.start(
            [
                "serve", "--from", "newsroom", "--topic", topic.description, "--keyring", keyring, "--outbox", place,
                "--listen", "127.0.0.1:0", "--phones", "127.0.0.1:0", "--token-file", tokenFile, "--sender-set",
                folder.write(set.description, to: "senders.txt"), "--json",
            ], output: FileHandle(forWritingTo: URL(filePath: output)),
            errors: FileHandle(forWritingTo: URL(filePath: errors)))
        defer {
            process.kill()
            _ = process.wait()
        }
        var announced: [String: Any]?
        try await eventually("the listeners") {
            let words = String(decoding: try Data(contentsOf: URL(filePath: errors)), as: UTF8.self)
            try #require(!process.hasEnded, "\(words)")
            announced =
                (try? JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: output)))) as? [String: Any]
            return announced != nil
        }
        try await body(
            RunningServer(
                outbox: outbox, port: #require(announced?["port"] as? Int),
                phonesPort: #require((announced?["phones"] as? [String: Any])?["port"] as? Int), folder: folder,
                sender: sender, authority: authority, server: nil))
    }

    static func keys(of sender: SenderPrivateKey, topic: Topic = topic) -> SenderKeys {
        SenderKeys(
            sender: sender, sealer: Sealer(sender: sender, topic: topic, safeDefault: "safe default"),
            receipts: ReceiptReceiver(keys: [ReceiptKey(of: sender, for: topic)]))
    }

    static func set(
        _ sender: SenderPrivateKey, _ authority: AuthorityPrivateKey, _ counter: UInt64, at now: Timestamp
    ) throws -> SenderSet {
        try SenderSet(
            of: [sender.sender], topic: topic, counter: counter, created: now, expires: now.advanced(bySeconds: 86_400),
            signedBy: authority)
    }

    var url: URL { URL(string: "http://127.0.0.1:\(phonesPort)")! }

    /// Returns a phone that trusts only the authority, so that nothing works without the sender set.
    ///
    /// - Parameter fetcher: The network between the phone and the server. A busy machine must not fail a test.
    func phone(
        _ name: String, senders: [String] = [], fetcher: any Fetching = CurlFetching(patience: .seconds(600))
    ) throws -> OwnDevice {
        let standard = StandardConfiguration(
            topic: Self.topic.description, senders: senders, authorities: [authority.authority.description],
            safeDefault: "safe default", allowsAnonymous: false)
        let phone = SimulatedDevice(container: folder.appending(name))
        guard let app = phone.app(standard, fetcher: fetcher) else {
            throw CocoaError(.featureUnsupported)
        }
        return app
    }

    /// Returns the app's client for its own server, inside the login.
    func client(_ user: String) throws -> PushServerClient {
        let login = try login(user)
        return PushServerClient(url: url) { "Bearer \(login)" }
    }

    /// Returns the login that the app presents for its account.
    func login(_ user: String, seconds: Int = 600, token: String = token) throws -> String {
        try post("/v1/logins", ["user": user, "seconds": seconds], token: token).json["token"] as? String ?? ""
    }

    /// Registers as at successive launches, until the server is reached; how long that takes depends on the machine.
    func update(_ phone: OwnDevice, as user: String, token: UInt8 = 1) async throws -> PushRegistration {
        try await update(phone, with: login(user), token: [UInt8](repeating: token, count: 32))
    }

    func update(_ phone: OwnDevice, with login: String, token: [UInt8]) async throws -> PushRegistration {
        let client = PushServerClient(url: url) { "Bearer \(login)" }
        var pause = 0.5
        while true {
            // A canceled task can't reach the server, and would retry forever.
            try Task.checkCancellation()
            let update = await client.register(phone, token: token, environment: .production, at: .now())
            let isBusy = update.problems.contains {
                [
                    .unreachable, .refused(status: 503, code: "unavailable"),
                    .refused(status: 429, code: "too-many-requests"),
                ].contains($0.error)
            }
            guard isBusy else { return update }
            // Phones that weren't reached or have to wait don't all retry at once.
            try await Task.sleep(for: .seconds(.random(in: 0...pause)))
            pause = min(2 * pause, 60)
        }
    }

    // MARK: As a back end, with curl

    struct Answer {
        let status: Int
        let head: String
        let body: String

        var json: [String: Any] {
            ((try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any]) ?? [:]
        }
        var code: String? { json["code"] as? String }
        var lines: [[String: Any]] {
            body.split(separator: "\n").compactMap {
                (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
            }
        }
    }

    func post(_ path: String, _ object: [String: Any], token: String? = token) throws -> Answer {
        try send("POST", path, Self.json(object), token: token)
    }

    func batch(_ path: String, _ lines: [String]) throws -> Answer {
        try send("POST", path, lines.joined(separator: "\n"), type: "application/x-ndjson")
    }

    static func json(_ object: [String: Any]) -> String {
        String(decoding: (try? JSONSerialization.data(withJSONObject: object)) ?? Data(), as: UTF8.self)
    }

    /// Returns what ``RawClient`` writes before a body, if there is one.
    static func head(_ method: String, _ path: String, token: String = token, _ fields: String...) -> String {
        let lines = ["\(method) \(path) HTTP/1.1", "host: a", "authorization: Bearer \(token)"] + fields
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// Like ``send(_:_:_:type:token:at:)``, but retries while the service is too busy.
    func insist(_ method: String, _ path: String, _ body: String, token: String) async throws -> Answer {
        while true {
            let answer = try send(method, path, body, token: token)
            guard [0, 429, 503].contains(answer.status) else { return answer }
            try await Task.sleep(for: .seconds(.random(in: 0...2)))
        }
    }

    /// - Parameter door: The port; by default, that of the listener with the path.
    func send(
        _ method: String, _ path: String, _ body: String = "", type: String = "application/json",
        token: String? = token, at door: Int? = nil, header: String? = nil
    ) throws -> Answer {
        let isPhones = path.hasPrefix("/v1/phones") || path == "/v1/sender-set"
        var arguments = ["-X", method, "-H", "Expect:"]
        if let header { arguments += ["-H", header] }
        if !body.isEmpty { arguments += ["-H", "Content-Type: \(type)", "--data-binary", "@-"] }
        return try curl(path, arguments, input: body, token: token, at: door ?? (isPhones ? phonesPort : port))
    }

    /// Runs curl with these arguments at a path, of the back end's port if no other is given.
    func curl(
        _ path: String, _ arguments: [String], input: String = "", token: String? = token, at door: Int? = nil
    ) throws -> Answer {
        let url = "http://127.0.0.1:\(door ?? port)\(path)"
        let authorization = token.map { ["-H", "Authorization: Bearer \($0)"] } ?? []
        let result = try Program(at: "/usr/bin/curl").run(["-sS", "-i", url] + authorization + arguments, input: input)
        let parts = result.output.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let head = parts.first.map(String.init) ?? ""
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return Answer(status: status, head: head, body: parts.count > 1 ? String(parts[1]) : "")
    }
}

extension ServerLimits {
    /// Long enough for anything that a test waits for.
    static var unhurried: ServerLimits {
        var limits = ServerLimits()
        (limits.batchPatience, limits.admissionPatience, limits.readinessPatience) = (
            .seconds(600), .seconds(600), .seconds(600)
        )
        (limits.firstHeadTime, limits.requestTime, limits.idleTime) = (.seconds(600), .seconds(600), .seconds(600))
        return limits
    }
}
