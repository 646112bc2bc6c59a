internal import Dispatch
internal import Foundation
internal import PushCore
internal import SealedPush

/// What a local APNs saw, one JSON object a line, in `log.jsonl`. Safe from several threads.
///
/// Lines are gathered and written every tenth of a second, and when 64 KiB have come together.
final class APNsLog: Sendable {
    private let state: Locked<State>
    let detail: APNsLogDetail

    private struct State {
        var bytes: [UInt8] = []
        let descriptor: Int32
    }

    /// A file that is there is continued.
    init(_ file: URL, detail: APNsLogDetail) throws(LocalAPNsError) {
        self.detail = detail
        guard detail != .off else {
            state = Locked(State(descriptor: -1))
            return
        }
        let path = file.path(percentEncoded: false)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .folder(path, String(cString: strerror(errno))) }
        state = Locked(State(descriptor: descriptor))
    }

    var isOn: Bool { detail != .off }

    /// One request and what became of it.
    func append(_ entry: RequestLogEntry) {
        guard isOn else { return }
        var writer = JSONWriter(reservingByteCount: 640)
        writer.object { entry.write(to: &$0, detail: detail) }
        append(writer.bytes)
    }

    /// Anything else: `event` and its members.
    func append(event: String, at time: Int64, _ members: [String: JSONValue] = [:]) {
        guard isOn else { return }
        var writer = JSONWriter()
        writer.object {
            $0.integer("time", time)
            $0.string("event", event)
            for (name, value) in members.sorted(by: { $0.key < $1.key }) { $0.value(named: name, value) }
        }
        append(writer.bytes)
    }

    private func append(_ line: [UInt8]) {
        state.withLock { state in
            state.bytes += line
            state.bytes.append(UInt8(ascii: "\n"))
            if state.bytes.count >= 65_536 { Self.write(&state) }
        }
    }

    func flush() { state.withLock { Self.write(&$0) } }

    private static func write(_ state: inout State) {
        guard !state.bytes.isEmpty else { return }
        // A full disk costs the log, not the service.
        try? DurableFiles.writeAll(state.bytes, to: state.descriptor)
        state.bytes.removeAll(keepingCapacity: true)
    }

    deinit {
        state.withLock { state in
            Self.write(&state)
            if state.descriptor >= 0 { close(state.descriptor) }
        }
    }
}

/// One request as the log shows it. Never the provider token itself: who has read it could send.
struct RequestLogEntry {
    var time: Int64
    var connection: Int
    var stream: Int
    var request: ProviderRequest
    var keyID: String?
    var status: Int
    var reason: String?
    var apnsID: String
    var outcome: DeliveryOutcome?
    var fault: String?

    func write(to object: inout JSONWriter.Members, detail: APNsLogDetail) {
        object.integer("time", time)
        object.string("event", "request")
        object.integer("connection", Int64(connection))
        object.integer("stream", Int64(stream))
        object.string("method", request.method)
        object.string("path", request.path)
        object.object("headers") { headers in
            headers.string("apns-id", request.apnsID)
            headers.string("apns-push-type", request.pushType)
            headers.string("apns-topic", request.topic)
            headers.string("apns-priority", request.priority)
            headers.string("apns-expiration", request.expiration)
            headers.string("apns-collapse-id", request.collapseID)
        }
        if !request.repeated.isEmpty {
            let lines = request.repeated.map { name, value in name == "authorization" ? name : "\(name): \(value)" }
            object.value("repeated-headers", .array(lines.map { .string($0) }))
        }
        object.string("kid", keyID)
        object.integer("bytes", Int64(request.bodyByteCount))
        writePayload(to: &object, detail)
        object.integer("status", Int64(status))
        object.string("reason", reason)
        object.string("apns-id", apnsID)
        object.string("outcome", outcome?.rawValue)
        object.string("fault", fault)
    }

    /// What anyone on the way can read: `aps`, and of every other key its name and its value's length.
    private func writePayload(to object: inout JSONWriter.Members, _ detail: APNsLogDetail) {
        let body = Array(request.bodyView)
        guard let outline = body.withUnsafeBufferPointer({ PayloadOutline(scanning: $0) }) else { return }
        if let aps = outline.aps { object.raw("aps") { Self.appendOnOneLine(body[aps], to: &$0) } }
        object.object("fields") { fields in
            for member in outline.members where member.value != outline.aps {
                let name = String(decoding: body[member.name], as: UTF8.self)
                fields.value(named: name, .integer(Int64(member.value.count)))
            }
        }
        if detail == .payloads { object.string("payload", String(decoding: body, as: UTF8.self)) }
    }

    /// JSON has line ends between its parts only, where they mean nothing.
    private static func appendOnOneLine(_ json: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        bytes += json.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }
    }
}
