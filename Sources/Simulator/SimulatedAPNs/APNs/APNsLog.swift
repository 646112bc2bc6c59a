internal import Foundation
internal import PushCore
internal import SealedPush

/// The log of a local APNs, `log.jsonl`, with one JSON object per line. Thread-safe.
///
/// Lines are buffered, and written every tenth of a second or once 64 KiB have accumulated.
final class APNsLog: Sendable {
    private let state: Locked<State>
    let detail: APNsLogDetail

    private struct State {
        var bytes: [UInt8] = []
        let descriptor: Int32
    }

    /// Opens the log. An existing file is appended to.
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

    func append(event: String, at time: Int64, _ members: [String: JSONValue]) {
        guard isOn else { return }
        var writer = JSONWriter(reservingByteCount: 640)
        writer.object {
            $0.integer("time", time)
            $0.string("event", event)
            for (name, value) in members.sorted(by: { $0.key < $1.key }) { $0.value(named: name, value) }
        }
        writer.endLine()
        state.withLock { state in
            state.bytes += writer.bytes
            if state.bytes.count >= 65_536 { Self.write(&state) }
        }
    }

    func flush() { state.withLock { Self.write(&$0) } }

    private static func write(_ state: inout State) {
        guard !state.bytes.isEmpty else { return }
        // If the disk is full, log lines are lost, but the server keeps working.
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
