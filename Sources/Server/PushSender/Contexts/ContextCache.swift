internal import PushCore

/// The HPKE contexts of one sealer, one for each recipient, within their limits. Safe for concurrent use. A context that is
/// used up or too old is dropped, and wiped once the last seal that uses it finishes. A background task wipes contexts that
/// are no longer requested. Source: Specification 3.5.
final class ContextCache: Sendable {
    private let sender: SenderPrivateKey
    private let info: EnvelopeInfo
    private let limits: ContextLimits
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Locked(State())

    /// - Parameter now: The clock. Tests replace it.
    init(
        sender: SenderPrivateKey, topic: Topic, limits: ContextLimits,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.sender = sender
        info = EnvelopeInfo(topic: topic)
        self.limits = limits
        self.now = now
    }

    var publicKey: SenderPublicKey { sender.sender }

    /// Seals padded plaintext.
    func seal(
        _ plaintext: [UInt8], to recipient: DevicePublicKey, random: Bytes16 = SecureRandom.pair().0
    ) -> Envelope {
        context(to: recipient).sealing.seal(plaintext, random: random)
    }

    func forget(_ recipient: DevicePublicKey) { state.withLock { $0.contexts[recipient] = nil } }

    var heldCount: Int { state.withLock { $0.contexts.count } }

    func sweep() {
        let now = now()
        let next = state.withLock { state in
            state.dropExpired(at: now, lifetime: limits.lifetime)
            let next = state.oldest
            state.isSweepDue = next != nil
            return next
        }
        if let next { scheduleSweep(at: next + limits.lifetime) }
    }

    private func context(to recipient: DevicePublicKey) -> CachedContext {
        let now = now()
        let held = state.withLock { state in
            state.dropExpired(at: now, lifetime: limits.lifetime)
            return state.take(for: recipient, messageCount: limits.messageCount)
        }
        if let held { return held }

        // Two scalar multiplications, done outside the lock. If two threads get here at once, each uses its own context.
        let context = CachedContext(SealingContext(to: recipient, from: sender, info: info), created: now)
        guard limits.heldCount > 0, limits.messageCount > 1 else { return context }
        let startsSweep = state.withLock { state in
            state.hold(context, for: recipient, heldCount: limits.heldCount)
            defer { state.isSweepDue = true }
            return !state.isSweepDue
        }
        if startsSweep { scheduleSweep(at: now + limits.lifetime) }
        return context
    }

    /// The sleeping task doesn't keep the cache alive.
    private func scheduleSweep(at deadline: ContinuousClock.Instant) {
        Task.detached(priority: .utility) { [weak self] in
            try? await Task.sleep(until: deadline, clock: .continuous)
            self?.sweep()
        }
    }
}

/// A single context, wiped with its last reference.
private final class CachedContext: Sendable {
    let sealing: SealingContext
    let created: ContinuousClock.Instant

    init(_ sealing: consuming SealingContext, created: ContinuousClock.Instant) {
        self.sealing = sealing
        self.created = created
    }
}

private struct State {
    var contexts: [DevicePublicKey: Held] = [:]
    var isSweepDue = false
    /// Contexts in the order of their creation.
    private var order: [Entry] = []
    private var firstInOrder = 0
    private var serial: UInt64 = 0

    struct Held {
        let context: CachedContext
        let serial: UInt64
        var messageCount: Int
    }

    /// Stale if its serial number differs from that of the held context.
    private struct Entry {
        let recipient: DevicePublicKey
        let serial: UInt64
        let created: ContinuousClock.Instant
    }

    var oldest: ContinuousClock.Instant? { order[firstInOrder...].first { held($0) != nil }?.created }

    mutating func take(for recipient: DevicePublicKey, messageCount: Int) -> CachedContext? {
        guard let index = contexts.index(forKey: recipient) else { return nil }
        let context = contexts.values[index].context
        contexts.values[index].messageCount += 1
        if contexts.values[index].messageCount >= messageCount { contexts.remove(at: index) }
        return context
    }

    /// Keeps a context that has sealed one message.
    mutating func hold(_ context: CachedContext, for recipient: DevicePublicKey, heldCount: Int) {
        guard contexts[recipient] == nil else { return }
        serial += 1
        contexts[recipient] = Held(context: context, serial: serial, messageCount: 1)
        order.append(Entry(recipient: recipient, serial: serial, created: context.created))
        while contexts.count > heldCount || held(order[firstInOrder]) == nil { dropOldest() }
    }

    mutating func dropExpired(at now: ContinuousClock.Instant, lifetime: Duration) {
        while firstInOrder < order.count {
            guard order[firstInOrder].created + lifetime <= now else { return }
            dropOldest()
        }
    }

    private mutating func dropOldest() {
        let entry = order[firstInOrder]
        if held(entry) != nil { contexts[entry.recipient] = nil }
        firstInOrder += 1
        guard firstInOrder > 1_024, firstInOrder * 2 > order.count else { return }
        order.removeFirst(firstInOrder)
        firstInOrder = 0
    }

    private func held(_ entry: Entry) -> Held? {
        guard let held = contexts[entry.recipient], held.serial == entry.serial else { return nil }
        return held
    }
}
