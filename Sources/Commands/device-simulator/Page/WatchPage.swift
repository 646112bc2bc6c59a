internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import PushCore
package import SealedPush

/// Where a page is to be had: never beyond this machine.
package enum PagePlace: Hashable, Sendable {
    /// A socket that this user alone can open.
    case socket(String)
    /// `127.0.0.1`, `::1` or `localhost`, and a port; 0 for any that is free.
    case loopback(host: String, port: Int)

    /// Reads `HOST:PORT`, with a host of IPv6 in brackets, or a socket's path, which has a `/`.
    package init(parsing text: String) throws(PageError) {
        if text.contains("/") {
            self = .socket(text)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port)
        else { throw .malformedPlace }
        guard let host = PageAccess.hosts.first(where: { $0 == text[..<colon] }) else { throw .notLocal }
        self = .loopback(host: host.filter { $0 != "[" && $0 != "]" }, port: port)
    }
}

package enum PageError: Error, Equatable, Sendable, CustomStringConvertible {
    case malformedPlace
    case notLocal
    /// The system's words.
    case notBound(String)

    package var description: String {
        switch self {
        case .malformedPlace: "a page is at HOST:PORT, such as 127.0.0.1:0, or at a socket's path, such as ./page.sock"
        case .notLocal: "a page is for this machine alone: 127.0.0.1, [::1] or localhost, or a socket's path"
        case .notBound(let words): "the page can't be had: \(words)"
        }
    }
}

/// A page that shows in a browser what a program does, as it does it.
///
/// Everything shown is text that the page sets as such. At a port the address holds a secret, since every user of a machine
/// reaches its ports; nothing is answered to a page of anybody else's (Docs/Decisions/0041-a-page-to-watch.md). Keeps 4 MB
/// at most. Safe from several threads.
package final class WatchPage: Sendable {
    /// What to type into a browser, or the socket's path.
    package let address: String
    private let hub: PageHub
    private let listener: any Channel
    private let group: MultiThreadedEventLoopGroup

    /// - Parameter title: the page's heading.
    package static func start(at place: PagePlace, title: String) async throws(PageError) -> WatchPage {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            return try await WatchPage(place, title, group)
        } catch {
            try? await group.shutdownGracefully()
            throw .notBound("\(error)")
        }
    }

    private init(_ place: PagePlace, _ title: String, _ group: MultiThreadedEventLoopGroup) async throws {
        let hub = PageHub(title: title)
        let access: PageAccess
        if case .socket = place {
            access = PageAccess(secret: nil)
        } else {
            access = PageAccess(secret: Hex.encode(SecureRandom.bytes(count: 16)))
        }
        let bootstrap = ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                    try channel.pipeline.syncOperations.addHandler(PageConnection(hub, access))
                }
            }
            .childChannelOption(
                ChannelOptions.writeBufferWaterMark, value: .init(low: 1 << 20, high: PageHub.maximumByteCount * 2))
        switch place {
        case .socket(let path):
            // From the beginning, the socket is this user's alone.
            let mask = umask(0o077)
            defer { umask(mask) }
            listener = try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
            address = path
        case .loopback(let host, let port):
            listener = try await bootstrap.bind(host: host, port: port).get()
            let name = host.contains(":") ? "[\(host)]" : host
            address = "http://\(name):\(listener.localAddress?.port ?? port)/\(access.secret ?? "")/"
        }
        self.hub = hub
        self.group = group
    }

    /// Whether somebody looks at it: where nobody does, nothing need be found out.
    package var isWatched: Bool { hub.isWatched }

    /// Shows a table under a heading, in the place of what was there: names, and a number or a word for each.
    package func show(_ rows: [(name: String, value: String)], under heading: String) {
        let rows: [JSONValue] = rows.map { [.string($0.name), .string($0.value)] }
        hub.show("table \(heading)", ["kind": "table", "name": .string(heading), "rows": .array(rows)])
    }

    /// Shows a phone's lock screen, in the place of what it was.
    package func show(_ notifications: [PageNotification], onPhone phone: String) {
        hub.show(
            "phone \(phone)",
            ["kind": "phone", "name": .string(phone), "notifications": .array(notifications.map(\.json))])
    }

    /// Adds a line to the newest 200.
    package func tell(_ text: String, _ tone: PageTone = .plain, at time: Timestamp = .now()) {
        hub.tell([
            "kind": "line", "text": .string(text), "tone": .string(tone.rawValue),
            "time": .integer(time.secondsSince1970),
        ])
    }

    package func stop() async {
        try? await listener.close()
        hub.end()
        try? await group.shutdownGracefully()
    }
}

package enum PageTone: String, Sendable { case plain, good, bad }

/// One notification on a phone's lock screen, as a person sees it.
package struct PageNotification: Sendable {
    package var identifier: String
    package var title: String
    package var subtitle: String
    package var body: String
    /// What became of it: `opened`, or the reason why not.
    package var note: String
    package var tone: PageTone

    /// Texts are cut at 20,000 bytes.
    package init(
        identifier: String, title: String, subtitle: String, body: String, note: String, tone: PageTone
    ) {
        self.identifier = identifier
        self.title = Self.cut(title)
        self.subtitle = Self.cut(subtitle)
        self.body = Self.cut(body)
        self.note = Self.cut(note)
        self.tone = tone
    }

    private static func cut(_ text: String) -> String {
        text.utf8.count <= 20_000 ? text : String(decoding: text.utf8.prefix(20_000), as: UTF8.self)
    }

    var json: JSONValue {
        [
            "title": .string(title), "subtitle": .string(subtitle), "body": .string(body), "note": .string(note),
            "tone": .string(tone.rawValue),
        ]
    }
}

/// What a page shows by now, and who looks at it. Safe from several threads.
final class PageHub: Sendable {
    /// Of all that is kept for who comes later.
    static let maximumByteCount = 4 << 20
    private static let maximumWatcherCount = 16
    private static let lineCount = 200
    private let beginning: ByteBuffer
    private let state = Locked(State())

    private struct State {
        var named: [(name: String, event: ByteBuffer)] = []
        var lines: [ByteBuffer] = []
        var byteCount = 0
        var watchers: [ObjectIdentifier: any Channel] = [:]
    }

    init(title: String) { beginning = Self.event(["kind": "begin", "title": .string(title)]) }

    var isWatched: Bool { state.withLock { !$0.watchers.isEmpty } }
    var keptByteCount: Int { state.withLock { $0.named.reduce(0) { $0 + $1.event.readableBytes } } }

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

    /// Sends all that there is, and from then on what comes; false where too many look.
    func join(_ channel: any Channel) -> Bool {
        state.withLock { state in
            guard state.watchers.count < Self.maximumWatcherCount else { return false }
            state.watchers[ObjectIdentifier(channel)] = channel
            for event in [beginning] + state.named.map(\.event) + state.lines { Self.write(event, to: channel) }
            channel.flush()
            return true
        }
    }

    func leave(_ channel: any Channel) {
        state.withLock { _ = $0.watchers.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    func end() {
        for channel in state.withLock({ Array($0.watchers.values) }) { channel.close(promise: nil) }
    }

    private static func send(_ event: ByteBuffer, _ state: inout State) {
        for channel in state.watchers.values {
            // Who does not read comes back by itself, and begins anew.
            guard channel.isWritable else {
                channel.close(promise: nil)
                continue
            }
            write(event, to: channel)
            channel.flush()
        }
    }

    static func write(_ event: ByteBuffer, to channel: any Channel) {
        channel.write(HTTPServerResponsePart.body(.byteBuffer(event)), promise: nil)
    }

    /// The writer escapes ends of lines, so an event is one line.
    private static func event(_ members: [String: JSONValue]) -> ByteBuffer {
        var writer = JSONWriter(reservingByteCount: 256)
        writer.value(.object(members))
        var buffer = ByteBuffer(string: "data: ")
        buffer.writeBytes(writer.bytes)
        buffer.writeString("\n\n")
        return buffer
    }
}
