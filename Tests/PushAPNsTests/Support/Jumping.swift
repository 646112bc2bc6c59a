import NIOCore

@testable import PushAPNs

/// The clock moves only if a waiter for it is known, and never because real time has passed.
extension ManualClock {
    /// Lets time pass while `body` runs, but only as far as pushes wait for it. Once they wait for nothing else, the clock
    /// jumps to the time at which another connection may be opened.
    ///
    /// - Parameter isMute: Whether the server is silent, so that a connection's deadline is waited for, too.
    @discardableResult func jumping<Value: Sendable>(
        for transport: APNsTransport, isMute: Bool = false, _ body: () async throws -> Value
    ) async rethrows -> Value {
        let jumps = Task {
            while !Task.isCancelled {
                try await transport.inLoop { dispatcher in
                    dispatcher.tick()
                    guard let moment = dispatcher.nextAttempt(isMute: isMute) else { return }
                    self.jump(to: moment)
                    dispatcher.tick()
                }
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        do {
            let value = try await body()
            await jumps.end()
            return value
        } catch {
            await jumps.end()
            throw error
        }
    }
}

extension Task where Failure == any Error {
    /// Cancels the task, and returns once it has stopped.
    func end() async {
        cancel()
        _ = await result
    }
}

extension Rig {
    /// Accepts requests that the server holds, until canceled.
    func answering() -> Task<Void, any Error> {
        Task {
            while !Task.isCancelled {
                for exchange in server.seen.takeWaiting() { exchange.accept() }
                try await Task.sleep(for: .milliseconds(2))
            }
        }
    }

    @discardableResult func jumping<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value {
        try await clock.jumping(for: transport, body)
    }

    /// Lets this much time pass, and makes the transport check the clock.
    func pass(_ amount: Duration) async throws {
        clock.advance(amount)
        try await transport.look()
    }
}

extension APNsTransport {
    func inLoop<Value: Sendable>(_ body: @escaping @Sendable (Dispatcher) -> Value) async throws -> Value {
        try await dispatcher.eventLoop.submit { [dispatcher] in body(dispatcher) }.get()
    }

    /// Returns once the transport has finished its clock checks.
    func look() async throws { try await inLoop { $0.tick() } }

    var isShuttingDown: Bool { get async throws { try await inLoop { $0.isShuttingDown } } }

    /// Whether no connection waits for a ping's acknowledgment.
    var pingIsAnswered: Bool {
        get async throws {
            try await inLoop { dispatcher in
                dispatcher.pools.allSatisfy { $0.connections.allSatisfy { $0.state.pingSentAt == nil } }
            }
        }
    }

    /// The first existing connection's.
    var firstChannel: (any Channel)? {
        get async throws {
            try await inLoop { $0.pools.lazy.compactMap { $0.connections.first?.context?.channel }.first }
        }
    }

    /// Whether anything was received since the clock last advanced.
    var hasReceivedNow: Bool {
        get async throws {
            try await inLoop { dispatcher in
                let now = dispatcher.clock.now()
                return dispatcher.pools.contains { $0.connections.contains { $0.state.lastReceivedAt == now } }
            }
        }
    }

    /// The number of pushes that wait for a free stream.
    var waitingCount: Int { get async throws { try await inLoop { $0.waitingCount } } }

    /// Whether pushes wait only for the clock.
    var waitsForClock: Bool { get async throws { try await inLoop { $0.nextAttempt() != nil } } }
}

extension Dispatcher {
    /// The time at which the clock alone allows the next connection. Nil if pushes wait for something else.
    func nextAttempt(isMute: Bool = false) -> NIODeadline? {
        let now = clock.now()
        return pools.compactMap { pool -> NIODeadline? in
            guard !pool.waiting.isEmpty else { return nil }
            if let connecting = pool.connections.first(where: { $0.state.phase == .connecting }) {
                return isMute ? connecting.state.openedAt + deadlines.connect : nil
            }
            let isAllowed = pool.backoff.until ?? now
            guard pool.connections.contains(where: { $0.state.isLive }) else { return isAllowed }
            return pool.fullSince.map { max($0 + deadlines.full, isAllowed) }
        }.filter { $0 > now }.min()
    }
}
