internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import PushCore
internal import SealedPush

/// The page can't be shown.
struct PageError: Error, CustomStringConvertible { let description: String }

/// A page that shows in a browser what a program does, as it does it.
///
/// The page sets everything shown as text. It listens on this machine alone. Its address holds a secret, because every user of a
/// machine reaches its ports, and other sites' pages get no answer: Docs/Decisions/0041-a-page-to-watch.md. It keeps at most
/// 4 MB. Safe from several threads.
final class WatchPage: Sendable {
    /// What to type into a browser.
    let address: String
    private let events: PageEvents
    private let running: Task<Void, Never>

    /// - Parameters:
    ///   - place: HOST:PORT, of this machine; port 0 is any that is free.
    ///   - title: the page's heading.
    static func start(at place: String, title: String) async throws(PageError) -> WatchPage {
        let (host, port) = try address(parsing: place)
        let access = PageAccess(secret: Hex.encode(SecureRandom.bytes(count: 16)))
        let events = PageEvents(title: title)
        var logger = Logger(label: "page")
        logger.logLevel = .critical
        let (ports, bound) = AsyncThrowingStream<Int, any Error>.makeStream()
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in access.answer(request, events) },
            server: .http1(configuration: .init(idleTimeout: .seconds(30))),
            configuration: .init(address: .hostname(host.filter { $0 != "[" && $0 != "]" }, port: port)),
            onServerRunning: { bound.yield($0.localAddress?.port ?? port) }, logger: logger)
        let running = Task {
            do { try await application.run() } catch { return bound.finish(throwing: error) }
            bound.finish()
        }
        do {
            for try await port in ports {
                return WatchPage("http://\(host):\(port)/\(access.secret)/", events, running)
            }
        } catch { throw PageError(description: "the page can't be shown at \(place): \(error)") }
        throw PageError(description: "the page can't be shown at \(place)")
    }

    private init(_ address: String, _ events: PageEvents, _ running: Task<Void, Never>) {
        (self.address, self.events, self.running) = (address, events, running)
    }

    /// The host and port of a place on this machine.
    static func address(parsing place: String) throws(PageError) -> (host: String, port: Int) {
        guard let colon = place.lastIndex(of: ":"), let port = UInt16(place[place.index(after: colon)...]) else {
            throw PageError(description: "a page is at HOST:PORT, such as 127.0.0.1:0")
        }
        guard let host = PageAccess.hosts.first(where: { $0 == place[..<colon] }) else {
            throw PageError(description: "a page is for this machine alone: 127.0.0.1, [::1], or localhost")
        }
        return (host, Int(port))
    }

    /// Whether somebody looks at it.
    var isWatched: Bool { events.isWatched }
    var keptByteCount: Int { events.keptByteCount }

    /// Shows a table under a heading, in place of the earlier one: names, with a number or a word for each.
    func show(_ rows: [(name: String, value: String)], under heading: String) {
        let rows: [JSONValue] = rows.map { [.string($0.name), .string($0.value)] }
        events.show("table \(heading)", ["kind": "table", "name": .string(heading), "rows": .array(rows)])
    }

    /// Shows a phone's lock screen, in place of the earlier one.
    func show(_ notifications: [PageNotification], onPhone phone: String) {
        events.show(
            "phone \(phone)",
            ["kind": "phone", "name": .string(phone), "notifications": .array(notifications.map(\.json))])
    }

    /// Adds a line to the newest 200.
    func tell(_ text: String, _ tone: PageTone = .plain) {
        events.tell([
            "kind": "line", "text": .string(text), "tone": .string(tone.rawValue),
            "time": .integer(Timestamp.now().secondsSince1970),
        ])
    }

    /// Notices who has stopped looking: a connection that is gone shows it only when something is written.
    func beat() { events.beat() }

    func stop() async {
        events.end()
        running.cancel()
        await running.value
    }
}

enum PageTone: String, Sendable { case plain, good, bad }

/// One notification on a phone's lock screen, as a person sees it.
struct PageNotification: Sendable {
    var identifier: String
    var title: String
    var subtitle: String
    var body: String
    /// What became of it: `opened`, or the reason why not.
    var note: String
    var tone: PageTone

    /// Texts are cut at 20,000 bytes.
    var json: JSONValue {
        func cut(_ text: String) -> JSONValue { .string(String(decoding: text.utf8.prefix(20_000), as: UTF8.self)) }
        return [
            "title": cut(title), "subtitle": cut(subtitle), "body": cut(body), "note": cut(note),
            "tone": .string(tone.rawValue),
        ]
    }
}

/// Who may have the page: a browser on this machine that was given its address, and no other site's page.
private struct PageAccess: Sendable {
    /// As a browser names this machine. A name that somebody else has pointed at it isn't one of them.
    static let hosts = ["127.0.0.1", "[::1]", "localhost"]
    /// The first part of each path.
    let secret: String

    /// Nothing may be run, loaded, or asked for except the page's own files.
    private static let rules: HTTPFields = [
        .contentSecurityPolicy:
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
            + "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        .cacheControl: "no-store", .xContentTypeOptions: "nosniff", field("Cross-Origin-Opener-Policy"): "same-origin",
        .crossOriginResourcePolicy: "same-origin", field("Referrer-Policy"): "no-referrer",
        field("X-Frame-Options"): "DENY",
    ]

    private static func field(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .cacheControl }

    func answer(_ request: Request, _ events: PageEvents) -> Response {
        func answer(_ type: String, _ body: ResponseBody, _ status: HTTPResponse.Status = .ok) -> Response {
            var headers = Self.rules
            headers[.contentType] = type
            if status == .methodNotAllowed { headers[.allow] = "GET" }
            return Response(status: status, headers: headers, body: body)
        }
        func file(_ type: String, _ bytes: [UInt8]) -> Response {
            answer("text/\(type); charset=utf-8", ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        }
        func refuse(_ status: HTTPResponse.Status) -> Response {
            answer("text/plain", ResponseBody(byteBuffer: ByteBuffer(string: "\(status.reasonPhrase)\n")), status)
        }

        guard let host = request.head.authority, Self.hosts.contains(where: { $0 == Self.name(host) }) else {
            return refuse(.misdirectedRequest)
        }
        let prefix = "/\(secret)/"
        guard let uri = request.head.path,
            ConstantTime.areEqual(Array(uri.utf8.prefix(prefix.utf8.count)), Array(prefix.utf8))
        else { return refuse(.notFound) }
        let path = uri.dropFirst(prefix.count)
        // A link to the page may stand anywhere; the page's own requests come from the page alone.
        let isOpened = path.isEmpty && request.headers[Self.field("Sec-Fetch-Dest")] == "document"
        let site = request.headers[Self.field("Sec-Fetch-Site")]
        guard isOpened || site == nil || site == "none" || site == "same-origin" else { return refuse(.forbidden) }
        guard request.method == .get else { return refuse(.methodNotAllowed) }
        switch path {
        case "": return file("html", PackageResources.page_html)
        case "page.css": return file("css", PackageResources.page_css)
        case "page.js": return file("javascript", PackageResources.page_js)
        case "events": return answer("text/event-stream", ResponseBody { try await events.write(to: &$0) })
        default: return refuse(.notFound)
        }
    }

    /// Without the port, because a tunnel has a different one.
    private static func name(_ host: String) -> Substring {
        guard let colon = host.lastIndex(of: ":"), host[host.index(after: colon)...].allSatisfy(\.isNumber) else {
            return host[...]
        }
        return host[..<colon]
    }
}

/// What a page shows by now, and who looks at it.
private final class PageEvents: Sendable {
    private static let (maximumByteCount, maximumWatcherCount, lineCount) = (4 << 20, 16, 200)
    private let beginning: ByteBuffer
    private let state = Locked(State())

    private struct State {
        var named: [(name: String, event: ByteBuffer)] = []
        var lines: [ByteBuffer] = []
        var byteCount = 0
        var watchers: [Int: AsyncStream<ByteBuffer>.Continuation] = [:]
        var nextWatcher = 0
    }

    init(title: String) { beginning = Self.event(["kind": "begin", "title": .string(title)]) }

    var isWatched: Bool { state.withLock { !$0.watchers.isEmpty } }
    var keptByteCount: Int { state.withLock { $0.byteCount } }

    func show(_ name: String, _ value: [String: JSONValue]) {
        let event = Self.event(value)
        state.withLock { state in
            if let index = state.named.firstIndex(where: { $0.name == name }) {
                guard state.named[index].event != event else { return }
                state.byteCount += event.readableBytes - state.named[index].event.readableBytes
                state.named[index].event = event
            } else {
                state.named.append((name, event))
                state.byteCount += event.readableBytes
            }
            while state.byteCount > Self.maximumByteCount, state.named.count > 1 {
                state.byteCount -= state.named.removeFirst().event.readableBytes
            }
            Self.send(event, &state)
        }
    }

    func tell(_ value: [String: JSONValue]) {
        let event = Self.event(value)
        state.withLock { state in
            if state.lines.count >= Self.lineCount { state.lines.removeFirst() }
            state.lines.append(event)
            Self.send(event, &state)
        }
    }

    func beat() { state.withLock { Self.send(ByteBuffer(string: ":\n\n"), &$0) } }

    func end() { state.withLock { state in for watcher in state.watchers.values { watcher.finish() } } }

    /// Writes all that there is, and from then on what comes, for as long as somebody looks. Ends at once if too many look.
    func write(to writer: inout any ResponseBodyWriter) async throws {
        // Somebody who does not read is dropped, comes back, and begins anew.
        let (events, watcher) = AsyncStream<ByteBuffer>.makeStream(bufferingPolicy: .bufferingOldest(1_000))
        let number = state.withLock { state -> Int? in
            guard state.watchers.count < Self.maximumWatcherCount else { return nil }
            for event in [beginning] + state.named.map(\.event) + state.lines { watcher.yield(event) }
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = watcher
            return state.nextWatcher
        }
        guard let number else { return try await writer.finish(nil) }
        defer { state.withLock { _ = $0.watchers.removeValue(forKey: number) } }
        for await event in events { try await writer.write(event) }
        try await writer.finish(nil)
    }

    private static func send(_ event: ByteBuffer, _ state: inout State) {
        for watcher in state.watchers.values {
            if case .dropped = watcher.yield(event) { watcher.finish() }
        }
    }

    /// The writer escapes ends of lines, so an event is one line.
    private static func event(_ members: [String: JSONValue]) -> ByteBuffer {
        var writer = JSONWriter(reservingByteCount: 256)
        writer.value(.object(members))
        return ByteBuffer(string: "data: \(String(decoding: writer.bytes, as: UTF8.self))\n\n")
    }
}
