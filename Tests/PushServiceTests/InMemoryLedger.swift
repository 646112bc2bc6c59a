import PushCore
import SealedPush

@testable import PushService

/// A ledger that forgets everything with the process: for tests.
final class InMemoryLedger: ReplayLedger {
    private let state: Locked<State>

    private struct State {
        var floor: Timestamp
        var opened: [[UInt8]: Opened] = [:]
    }

    private struct Opened {
        let requestIdentifier: String
        let sent: Timestamp
    }

    init(floor: Timestamp) { state = Locked(State(floor: floor)) }

    func record(_ entry: LedgerEntry, at now: Timestamp) throws(LedgerError) -> LedgerAnswer {
        try state.withLock { (state) throws(LedgerError) in
            guard entry.sent > state.floor else { throw .replayed }
            guard let seen = state.opened[entry.key] else {
                state.opened[entry.key] = Opened(requestIdentifier: entry.requestIdentifier, sent: entry.sent)
                return .first
            }
            guard seen.requestIdentifier == entry.requestIdentifier else { throw .replayed }
            return .repeated
        }
    }

    func purge(at now: Timestamp) {
        state.withLock { state in
            var dropped = state.opened.filter { now.seconds(since: $0.value.sent) > TimeRules.maximumAge }
            let left = state.opened.filter { dropped[$0.key] == nil }.sorted { $0.value.sent < $1.value.sent }
            for (key, seen) in left.dropLast(LedgerLimits.maximumEntryCount) { dropped[key] = seen }
            state.floor = max(state.floor, dropped.values.map(\.sent).max() ?? state.floor)
            let floor = state.floor
            state.opened = state.opened.filter { $0.value.sent > floor }
        }
    }
}
