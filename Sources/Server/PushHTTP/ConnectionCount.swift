internal import NIOCore
internal import PushCore

/// The connections of one listener, up to a limit. When there are too many, the connection that has been idle longest is
/// closed to make room, so that a client that only holds connections can't keep others out. There is no limit per address:
/// behind a proxy, all phones share one. Thread-safe.
final class ConnectionCount: Sendable {
    let maximumCount: Int
    private let state = Locked(State())

    private struct State {
        var count = 0
        var idleCount = 0
        /// Connections without a request, and their order.
        var idle: [ObjectIdentifier: (number: Int, close: @Sendable () -> Void)] = [:]

        mutating func append(_ id: ObjectIdentifier, _ close: @escaping @Sendable () -> Void) {
            idleCount += 1
            idle[id] = (idleCount, close)
        }
    }

    init(_ maximumCount: Int) { self.maximumCount = maximumCount }

    /// Counts a connection until it is closed. Returns false if it must be closed at once. `close` must close it without
    /// waiting for the client, whose descriptor would otherwise outlast its place.
    func open(_ channel: any Channel, close: @escaping @Sendable () -> Void) -> Bool {
        let id = ObjectIdentifier(channel)
        let (isOpen, ousted) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            var ousted: (id: ObjectIdentifier, close: @Sendable () -> Void)?
            if state.count >= maximumCount {
                ousted = state.idle.min { $0.value.number < $1.value.number }.map { ($0.key, $0.value.close) }
                guard let ousted else { return (false, nil) }
                state.idle[ousted.id] = nil
            }
            state.count += 1
            state.append(id, close)
            return (true, ousted?.close)
        }
        ousted?()
        guard isOpen else { return false }
        channel.closeFuture.whenComplete { [state] _ in
            state.withLock { state in
                state.count -= 1
                state.idle[id] = nil
            }
        }
        return true
    }

    func hasRequest(_ channel: any Channel) { state.withLock { $0.idle[ObjectIdentifier(channel)] = nil } }

    func isIdle(_ channel: any Channel, close: @escaping @Sendable () -> Void) {
        if channel.isActive { state.withLock { $0.append(ObjectIdentifier(channel), close) } }
    }
}
