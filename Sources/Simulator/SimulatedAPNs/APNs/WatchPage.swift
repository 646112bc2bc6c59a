internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import PushCore
internal import PushSimulator

/// A web page that shows the activity of a local APNs: its counts, the phones' lock screens, and the newest events.
///
/// It's HTML without scripts, rendered for each request; the browser reloads it every second. All text is escaped.
/// Only this machine can reach it. Its address contains a secret, because every user of a machine can reach its ports
/// (Docs/Decisions/0041-a-page-to-watch.md). Thread-safe.
final class WatchPage: Sendable {
    private let secret = Hex.encode(SecureRandom.bytes(count: 16))
    private let state = Locked(State())
    private static let (lineLimit, phoneLimit, screenLimit) = (200, 20, 10)

    private struct State {
        /// The events, newest first.
        var lines: [(text: String, tone: Tone)] = []
        var phones: [(name: String, screen: [ShownOnDevice])] = []
    }

    private enum Tone: String { case plain, good, bad }

    /// Returns the listener, and the address to open in a browser.
    func listen(
        at place: PagePlace, of core: LocalAPNsCore, _ group: any EventLoopGroup
    ) async throws(LocalAPNsError) -> (listener: HTTPListener, address: String) {
        do {
            let host = place.host.filter { $0 != "[" && $0 != "]" }
            let listener = try await HTTPListener.start(at: .hostname(host, port: place.port), group) { request in
                self.answer(request) { self.html(core.counts, core.registry.counts) }
            }
            return (listener, "http://\(place.host):\(listener.port ?? place.port)/\(secret)/")
        } catch { throw .notBound("the page can't be shown at \(place.host):\(place.port): \(error)") }
    }

    func requested(device: String?, reason: String?) {
        state.withLock { state in
            let text = "APNs: a push for \(device ?? "an unknown device"): \(reason ?? "accepted")"
            Self.add(text, reason == nil ? .plain : .bad, &state)
        }
    }

    /// Adds a notification to a device's screen. Its texts are truncated here, because a device may send anything.
    func showed(_ shown: ShownOnDevice, on device: String) {
        let shown = shown.cut
        state.withLock { state in
            Self.add("\(device): \(shown.summary)", Self.tone(of: shown), &state)
            guard shown.outcome != .notShown else { return }
            let known = state.phones.firstIndex { $0.name == device }
            guard known != nil || state.phones.count < Self.phoneLimit else { return }
            if known == nil { state.phones.append((device, [])) }
            let index = known ?? state.phones.count - 1
            let older = state.phones[index].screen.filter { $0.identifier != shown.identifier }
            state.phones[index].screen = [shown] + older.prefix(Self.screenLimit - 1)
        }
    }

    private static func add(_ text: String, _ tone: Tone, _ state: inout State) {
        let time = Date().formatted(date: .omitted, time: .standard)
        state.lines.insert(("\(time)  \(text)", tone), at: 0)
        if state.lines.count > lineLimit { state.lines.removeLast() }
    }

    private static func tone(of shown: ShownOnDevice) -> Tone { shown.outcome == .opened ? .good : .bad }

    /// The headers that allow nothing but the page's own style, and that keep other sites from showing or reading the page.
    private static let rules = HTTPFields(
        [
            "Content-Security-Policy":
                "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
            "X-Frame-Options": "DENY",
        ].compactMap { name, value in HTTPField.Name(name).map { HTTPField(name: $0, value: value) } })

    private static func fetch(of request: Request, _ name: String) -> String? {
        HTTPField.Name("Sec-Fetch-\(name)").flatMap { request.headers[$0] }
    }

    private func answer(_ request: Request, _ html: () -> String) -> Response {
        func answer(_ type: String, _ bytes: some Sequence<UInt8>, _ status: HTTPResponse.Status = .ok) -> Response {
            var headers = Self.rules
            headers[.contentType] = "text/\(type); charset=utf-8"
            if status == .methodNotAllowed { headers[.allow] = "GET" }
            return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        }
        func refuse(_ status: HTTPResponse.Status) -> Response {
            answer("plain", "\(status.reasonPhrase)\n".utf8, status)
        }

        // Another name that resolves to this machine isn't accepted. The port may differ, for example through a tunnel.
        let host = request.head.authority?.replacing(/:[0-9]+$/, with: "")
        guard PagePlace.hosts.contains(where: { $0 == host }) else { return refuse(.misdirectedRequest) }
        let (path, prefix) = (Array((request.head.path ?? "").utf8), Array("/\(secret)/".utf8))
        guard ConstantTime.areEqual(Array(path.prefix(prefix.count)), prefix) else { return refuse(.notFound) }
        let file = String(decoding: path.dropFirst(prefix.count), as: UTF8.self)
        // Links to the page are allowed anywhere, but another site's page must not load it.
        let site = Self.fetch(of: request, "Site")
        let isOpened = file.isEmpty && Self.fetch(of: request, "Dest") == "document"
        guard isOpened || site == nil || site == "none" || site == "same-origin" else { return refuse(.forbidden) }
        guard request.method == .get else { return refuse(.methodNotAllowed) }
        switch file {
        case "":
            let frame = String(decoding: PackageResources.page_html, as: UTF8.self)
            return answer("html", frame.replacing("<!-- contents -->", with: html()).utf8)
        case "page.css": return answer("css", PackageResources.page_css)
        default: return refuse(.notFound)
        }
    }

    func html(_ requests: LocalAPNsCore.Counts, _ devices: DeviceCounts) -> String {
        let state = state.withLock { $0 }
        let answers = [("accepted", requests.accepted), ("lost", requests.lostResponses), ("reset", requests.resets)]
        let refusals = requests.refusals.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let phones = state.phones.map { phone in
            let screen = phone.screen.map { shown in
                let texts = [("heading", shown.title), ("subtitle", shown.subtitle), ("", shown.body)]
                    .filter { !$0.1.isEmpty }.map { Self.element("p", $0.0, $0.1) }.joined()
                return "<li>\(texts)\(Self.element("p", "note \(Self.tone(of: shown))", shown.summary))</li>"
            }
            return "<div class=\"phone\">\(Self.element("h2", "", phone.name))<ol>\(screen.joined())</ol></div>"
        }
        let lines = state.lines.map { Self.element("li", $0.tone.rawValue, $0.text) }
        return """
            <section>
            \(Self.table("Pushes", answers + refusals))
            \(Self.table("Phones", [
                ("known", devices.devices), ("online", devices.online), ("waiting pushes", devices.waiting),
            ]))
            </section>
            <section>\(phones.joined(separator: "\n"))</section>
            <ol id="lines">\(lines.joined(separator: "\n"))</ol>
            """
    }

    private static func table(_ heading: String, _ rows: [(name: String, count: Int)]) -> String {
        let rows = rows.map { "<tr>\(element("td", "", $0.name))<td>\($0.count)</td></tr>" }
        return "<div>\(element("h2", "", heading))<table>\(rows.joined())</table></div>"
    }

    /// Returns an element with escaped text.
    private static func element(_ name: String, _ classes: String, _ text: String) -> String {
        let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        return "<\(name) class=\"text \(classes)\" dir=\"auto\">\(escaped)</\(name)>"
    }
}
