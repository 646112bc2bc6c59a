internal import NIOCore
internal import PushCore

/// Carries pushes from their callers' threads to the event loop, many in one turn of it.
final class SubmissionQueue: Sendable {
    enum Entry: Sendable {
        case deliver(Delivery)
        case cancel(Delivery)
    }

    private struct State {
        var entries: [Entry] = []
        var isDraining = false
    }

    private let state = Locked(State())

    /// Whether the caller must have the queue drained: true for the first entry since it was.
    func append(_ entry: Entry) -> Bool {
        state.withLock { state in
            state.entries.append(entry)
            defer { state.isDraining = true }
            return !state.isDraining
        }
    }

    /// Takes all entries; `spare` becomes the new, empty store, so that two arrays serve for ever.
    func drain(into spare: inout [Entry]) {
        spare.removeAll(keepingCapacity: true)
        let empty = spare
        spare = []
        spare = state.withLock { state in
            let entries = state.entries
            state.entries = empty
            state.isDraining = false
            return entries
        }
    }
}
