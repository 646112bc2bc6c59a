import NIOCore

@testable import PushAPNS

/// The clock moves where something is known to wait for it, and never because real time has passed.
extension ManualClock {
    /// Lets time pass for as long as `body` runs, but no more than pushes wait for: once they have nothing else to wait
    /// for, the clock jumps to the moment at which another connection may be made.
    ///
    /// - Parameter isMute: whether the server says nothing, so that a connection's deadline is waited for, too.
    @discardableResult func jumping<Value: Sendable>(
        for transport: APNSTransport, isMute: Bool = false, _ body: () async throws -> Value
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
    /// Cancels it, and returns when it does nothing any more.
    func end() async {
        cancel()
        _ = await result
    }
}

extension Rig {
    /// Accepts what the server puts aside, until it is cancelled.
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

    /// Lets so much time pass, and has the transport look at the clock.
    func pass(_ amount: Duration) async throws {
        clock.advance(amount)
        try await transport.look()
    }
}

extension APNSTransport {
    func inLoop<Value: Sendable>(_ body: @escaping @Sendable (Dispatcher) -> Value) async throws -> Value {
        try await dispatcher.eventLoop.submit { [dispatcher] in body(dispatcher) }.get()
    }

    /// What a look at the clock brings has happened when this returns.
    func look() async throws { try await inLoop { $0.tick() } }

    var isShuttingDown: Bool { get async throws { try await inLoop { $0.isShuttingDown } } }

    /// Whether no connection waits for the answer to a ping.
    var pingIsAnswered: Bool {
        get async throws {
            try await inLoop { dispatcher in
                dispatcher.lanes.allSatisfy { $0.connections.allSatisfy { $0.pingSentAt == nil } }
            }
        }
    }

    /// That of the first connection there is.
    var firstChannel: (any Channel)? {
        get async throws {
            try await inLoop { $0.lanes.lazy.compactMap { $0.connections.first?.context?.channel }.first }
        }
    }

    /// Whether something has come since the clock last went on.
    var hasReceivedNow: Bool {
        get async throws {
            try await inLoop { dispatcher in
                let now = dispatcher.clock.now()
                return dispatcher.lanes.contains { $0.connections.contains { $0.lastReceivedAt == now } }
            }
        }
    }

    /// How many pushes wait for a free stream.
    var waitingCount: Int { get async throws { try await inLoop { $0.waitingCount } } }

    /// Whether pushes wait for nothing but the clock.
    var waitsForClock: Bool { get async throws { try await inLoop { $0.nextAttempt() != nil } } }
}

extension Dispatcher {
    /// When the clock alone brings the next connection to those who wait; nil where it is something else that they wait for.
    func nextAttempt(isMute: Bool = false) -> NIODeadline? {
        let now = clock.now()
        return lanes.compactMap { lane -> NIODeadline? in
            guard !lane.waiting.isEmpty else { return nil }
            if let connecting = lane.connections.first(where: { $0.phase == .connecting }) {
                return isMute ? connecting.openedAt + deadlines.connect : nil
            }
            let isAllowed = lane.backoff.until ?? now
            guard lane.connections.contains(where: { $0.isLive }) else { return isAllowed }
            return lane.fullSince.map { max($0 + deadlines.full, isAllowed) }
        }.filter { $0 > now }.min()
    }
}
