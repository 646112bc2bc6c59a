internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import PushCore
internal import PushSimulator
internal import SealedPush

/// A page that shows in a browser what a local APNs does: its counts, the phones' lock screens, and the newest events.
///
/// It is HTML without a script, written anew for each request; the browser asks again every second. All texts are
/// escaped. It is for this machine alone, and its address holds a secret, because every user of a machine reaches its
/// ports: Docs/Decisions/0041-a-page-to-watch.md. Safe from several threads.
final class WatchPage: Sendable {
    private let secret = Hex.encode(SecureRandom.bytes(count: 16))
    private let state = Locked(State())
    private static let (lineLimit, phoneLimit, screenLimit) = (200, 20, 10)

    private struct State {
        /// The newest first.
        var lines: [(text: String, tone: Tone)] = []
        var phones: [(name: String, screen: [ShownOnDevice])] = []
    }

    private enum Tone: String { case plain, good, bad }

    /// Returns the listener, and the address to type into a browser.
    func listen(
        at place: PagePlace, of core: LocalAPNsCore, _ group: any EventLoopGroup
    ) async throws(LocalAPNsError) -> (listener: any Channel, address: String) {
        let bootstrap = HTTPConnection.bootstrap(group) { head, _ in
            self.answer(head) { self.html(core.counts, core.registry.counts) }
        }
        do {
            let host = place.host.filter { $0 != "[" && $0 != "]" }
            let listener = try await bootstrap.bind(host: host, port: place.port).get()
            let port = listener.localAddress?.port ?? place.port
            return (listener, "http://\(place.host):\(port)/\(secret)/")
        } catch { throw .notBound("the page can't be shown at \(place.host):\(place.port): \(error)") }
    }

    func requested(device: String?, reason: String?) {
        state.withLock { state in
            let text = "APNs: a push for \(device ?? "nobody"): \(reason ?? "accepted")"
            Self.add(text, reason == nil ? .plain : .bad, &state)
        }
    }

    func showed(_ shown: ShownOnDevice, on device: String) {
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

    /// Nothing may be run, loaded, or asked for, and no other site may show or read the page.
    private static func rules(nonce: String) -> HTTPHeaders {
        [
            "content-security-policy":
                "default-src 'none'; style-src 'nonce-\(nonce)'; base-uri 'none'; form-action 'none'; "
                + "frame-ancestors 'none'",
            "cache-control": "no-store", "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
            "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin",
            "x-frame-options": "DENY",
        ]
    }

    private func answer(_ head: HTTPRequestHead, _ html: () -> String) -> HTTPAnswer {
        let nonce = Hex.encode(SecureRandom.bytes(count: 16))
        func answer(_ type: String, _ text: String, _ status: HTTPResponseStatus = .ok) -> HTTPAnswer {
            var headers = Self.rules(nonce: nonce)
            headers.add(name: "content-type", value: "text/\(type); charset=utf-8")
            return HTTPAnswer(status: status, headers: headers, body: Data(text.utf8))
        }
        func refuse(_ status: HTTPResponseStatus) -> HTTPAnswer { answer("plain", status.reasonPhrase + "\n", status) }

        // A name that somebody else has pointed at this machine is not one of its own. A tunnel has another port.
        let host = head.headers.first(name: "host")?.replacing(/:[0-9]+$/, with: "")
        guard PagePlace.hosts.contains(where: { $0 == host }) else { return refuse(.misdirectedRequest) }
        guard ConstantTime.areEqual(Array(head.uri.utf8), Array("/\(secret)/".utf8)) else { return refuse(.notFound) }
        // A link to the page may stand anywhere; a part of another site's page may not ask for it.
        let site = head.headers.first(name: "sec-fetch-site")
        let isOpened = head.headers.first(name: "sec-fetch-dest") == "document"
        guard isOpened || site == nil || site == "none" || site == "same-origin" else { return refuse(.forbidden) }
        guard head.method == .GET else { return refuse(.methodNotAllowed) }
        return answer("html", Self.document(html(), nonce: nonce))
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
                ("known", devices.devices), ("online", devices.online), ("pushes that wait", devices.waiting),
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

    /// An element that holds a text and nothing else, whatever the text is made of.
    private static func element(_ name: String, _ classes: String, _ text: String) -> String {
        let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        return "<\(name) class=\"text \(classes)\" dir=\"auto\">\(escaped)</\(name)>"
    }

    private static func document(_ body: String, nonce: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <meta http-equiv="refresh" content="1">
        <title>A local APNs and its phones</title>
        <style nonce="\(nonce)">
        :root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif; }
        body { margin: 1.5rem; max-width: 80rem; }
        h1 { font-size: 1.3rem; }
        h2 { font-size: 1rem; margin: 0 0 .5rem; }
        section { display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: flex-start; margin-bottom: 1.5rem; }
        td:last-child { text-align: right; padding-left: 1.5rem; }
        ol { list-style: none; margin: 0; padding: 0; }
        p { margin: 0; }
        .phone { width: 20rem; padding: 1rem; border-radius: 1.5rem; background: #223; color: #fff; }
        .phone li { background: #ffffff26; border-radius: 1rem; padding: .6rem .8rem; margin-top: .5rem; }
        /* A text stays in its own box, whatever it is made of. */
        .text { unicode-bidi: isolate; overflow-wrap: anywhere; white-space: pre-line; }
        .text { overflow: hidden; max-height: 8.4em; }
        .subtitle, .heading { font-weight: 600; }
        .note { font-size: .8rem; opacity: .8; }
        #lines { font-family: ui-monospace, monospace; font-size: .85rem; }
        .good { color: #2a9d4b; } .bad { color: #d9483b; }
        .phone .good { color: #7fe0a0; } .phone .bad { color: #ffa59b; }
        </style>
        <h1>A local APNs and its phones</h1>
        \(body)
        </html>
        """
    }
}

/// Where a page is shown: a port of this machine.
package struct PagePlace: Sendable, Equatable {
    package let host: String
    /// 0: any free one.
    package let port: Int

    /// As a browser names this machine.
    static let hosts = ["127.0.0.1", "[::1]", "localhost"]

    /// Parses HOST:PORT.
    package init?(parsing text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            let host = Self.hosts.first(where: { $0 == text[..<colon] })
        else { return nil }
        (self.host, self.port) = (host, Int(port))
    }
}

/// What a person sees of one push, on its way from the device's process to the page.
struct ShownOnDevice: Codable, Equatable {
    let identifier: String
    let outcome: DeliveredPush.Outcome
    /// Why it did not open, or was not shown.
    let reason: String?
    let title: String
    let subtitle: String
    let body: String

    init(_ push: DeliveredPush, identifier: String) {
        self.identifier = identifier
        outcome = push.outcome
        reason = (push.reason ?? push.note).map(Self.cut)
        title = Self.cut(push.shown?.title ?? "")
        subtitle = Self.cut(push.shown?.subtitle ?? "")
        body = Self.cut(push.shown?.body ?? "")
    }

    var summary: String {
        switch outcome {
        case .opened: "opened"
        case .safeDefault: "safe default: \(reason ?? "unknown")"
        case .original: "the wire's own text"
        case .modified: "not sealed"
        case .notShown: "not shown: \(reason ?? "unknown")"
        }
    }

    /// No more than a page shows.
    private static func cut(_ text: String) -> String { String(decoding: text.utf8.prefix(4_000), as: UTF8.self) }
}
