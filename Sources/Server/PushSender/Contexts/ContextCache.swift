internal import PushCore
import SealedPush

/// The HPKE contexts of one sealer, one a recipient, within their limits. Safe from many threads.
///
/// Each number is reserved under the lock before it is used and never given back. A context that is used up, too old,
/// or made by another process (fork) is dropped, and wiped as soon as the last seal that uses it is done; a task wipes
/// what nobody asks for any more. Source: Specification 3.5.
final class ContextCache: Sendable {
    private let sender: SenderPrivateKey
    private let info: HPKEInfo
    private let limits: ContextLimits
    private let environment: Environment
    private let state = Locked(State())

    /// Where time and the mark of the process come from; tests put in their own.
    struct Environment: Sendable {
        var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
        var mark: @Sendable () -> ForkMark? = { ForkMark() }
    }

    init(sender: SenderPrivateKey, topic: Topic, limits: ContextLimits, environment: Environment = Environment()) {
        self.sender = sender
        info = HPKEInfo(Envelope.info(topic: topic))
        self.limits = limits
        self.environment = environment
    }

    var publicKey: SenderPublicKey { sender.sender }

    /// Seals padded plaintext under a number that was never used before.
    func seal(_ plaintext: [UInt8], to recipient: DevicePublicKey) -> Envelope {
        let (context, number) = reserve(for: recipient)
        return Envelope.sealing(
            plaintext, to: recipient, from: sender.sender, in: context.hpke, sequenceNumber: number,
            suite: context.suite)
    }

    func forget(_ recipient: DevicePublicKey) { state.withLock { $0.contexts[recipient] = nil } }

    var heldCount: Int { state.withLock { $0.contexts.count } }

    func sweep() {
        let now = environment.now()
        let next = state.withLock { state in
            state.dropAllOfParent()
            state.dropExpired(at: now, lifetime: limits.lifetime)
            let next = state.oldest
            state.isSweepDue = next != nil
            return next
        }
        if let next { scheduleSweep(at: next + limits.lifetime) }
    }

    private func reserve(for recipient: DevicePublicKey) -> (SealingContext, UInt32) {
        let now = environment.now()
        let held = state.withLock { state -> (SealingContext, UInt32)? in
            state.dropAllOfParent()
            state.dropExpired(at: now, lifetime: limits.lifetime)
            return state.reserve(for: recipient, messageCount: limits.messageCount)
        }
        if let held { return held }

        // Two scalar multiplications: outside the lock. Should two threads meet here, each uses its own context.
        let suite = Envelope.Suite.sealing(to: recipient, from: sender.sender)
        let hpke = suite.context(to: recipient, from: sender, info: info)
        let context = SealingContext(hpke: hpke, suite: suite, created: now)
        guard limits.heldCount > 0, limits.messageCount > 1 else { return (context, 0) }
        let startsSweep = state.withLock { state in
            guard state.mark(by: environment.mark) else { return false }
            state.hold(context, for: recipient, heldCount: limits.heldCount)
            defer { state.isSweepDue = true }
            return !state.isSweepDue
        }
        if startsSweep { scheduleSweep(at: now + limits.lifetime) }
        return (context, 0)
    }

    /// The sleeping task does not keep the cache alive.
    private func scheduleSweep(at deadline: ContinuousClock.Instant) {
        Task.detached(priority: .utility) { [weak self] in
            try? await Task.sleep(until: deadline, clock: .continuous)
            self?.sweep()
        }
    }
}

/// One context; wiped with its last reference.
private final class SealingContext: Sendable {
    let hpke: HPKEContext
    let suite: Envelope.Suite
    let created: ContinuousClock.Instant

    init(hpke: consuming HPKEContext, suite: Envelope.Suite, created: ContinuousClock.Instant) {
        self.hpke = hpke
        self.suite = suite
        self.created = created
    }
}

private struct State {
    var contexts: [DevicePublicKey: Held] = [:]
    var isSweepDue = false
    /// Contexts in the order in which they were made.
    private var order: [Entry] = []
    private var firstInOrder = 0
    private var serial: UInt64 = 0
    private var mark: ForkMark?

    struct Held {
        let context: SealingContext
        let serial: UInt64
        var nextNumber: UInt32
    }

    /// Stale where the serial number of what is held differs.
    private struct Entry {
        let recipient: DevicePublicKey
        let serial: UInt64
        let created: ContinuousClock.Instant
    }

    var oldest: ContinuousClock.Instant? { order[firstInOrder...].first { held($0) != nil }?.created }

    mutating func reserve(for recipient: DevicePublicKey, messageCount: Int) -> (SealingContext, UInt32)? {
        guard let index = contexts.index(forKey: recipient) else { return nil }
        let (context, number) = (contexts.values[index].context, contexts.values[index].nextNumber)
        contexts.values[index].nextNumber += 1
        if contexts.values[index].nextNumber >= messageCount { contexts.remove(at: index) }
        return (context, number)
    }

    /// Whether a child of this process would be known for one; if not, nothing may be held.
    mutating func mark(by make: () -> ForkMark?) -> Bool {
        mark = mark ?? make()
        return mark != nil
    }

    /// Keeps a context whose number 0 is already taken.
    mutating func hold(_ context: SealingContext, for recipient: DevicePublicKey, heldCount: Int) {
        guard contexts[recipient] == nil else { return }
        serial += 1
        contexts[recipient] = Held(context: context, serial: serial, nextNumber: 1)
        order.append(Entry(recipient: recipient, serial: serial, created: context.created))
        while contexts.count > heldCount || held(order[firstInOrder]) == nil { dropOldest() }
    }

    mutating func dropExpired(at now: ContinuousClock.Instant, lifetime: Duration) {
        while firstInOrder < order.count {
            guard order[firstInOrder].created + lifetime <= now else { return }
            dropOldest()
        }
    }

    /// After a fork both processes would go on with the same numbers.
    mutating func dropAllOfParent() {
        guard let mark, !mark.isOfThisProcess else { return }
        self.mark = nil
        contexts.removeAll()
        order.removeAll()
        firstInOrder = 0
        // The task that would have swept is the parent's.
        isSweepDue = false
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

/// How long one HPKE context is used, and how many are held. Source: Specification 3.5.
public struct ContextLimits: Hashable, Sendable {
    /// Messages under one context: 1 to 1,024. Use 1 on machines that are cloned or snapshotted while they run.
    public let messageCount: Int
    /// How long a context lives, on a clock that counts sleep: at most one hour.
    public let lifetime: Duration
    /// How many are held at once; the oldest makes room for a new one. One takes about 400 bytes.
    package let heldCount: Int

    public init(messageCount: Int = 1_024, lifetime: Duration = .seconds(3_600), heldCount: Int = 10_000) {
        precondition((1...1_024).contains(messageCount), "a context seals 1 to 1,024 messages")
        precondition(lifetime > .zero && lifetime <= .seconds(3_600), "a context lives at most one hour")
        precondition(heldCount >= 0, "the number of held contexts is not negative")
        self.messageCount = messageCount
        self.lifetime = lifetime
        self.heldCount = heldCount
    }

    /// Each message under a context of its own, and none held.
    public static let perMessage = ContextLimits(messageCount: 1, heldCount: 0)
}

/// Tells a process from a child that fork(2) has made of it, whose memory is the same.
///
/// A process ID does not tell: where the first process of a container makes a child in a new namespace, both have the
/// number 1, and a kernel uses numbers again. The mark is a count of forks (pthread_atfork(3)), and on Linux a page that a
/// child finds empty, however it was made (madvise(2), `MADV_WIPEONFORK`, Linux 4.14); elsewhere the process ID as well.
/// Neither on Linux asks the kernel each time.
///
/// Not safe from many threads by itself. Takes a page of memory on Linux. Source: Specification 3.5.6.
final class ForkMark {
    private let forkCount: Int
    #if canImport(Darwin)
        private let processID = getpid()
    #else
        private let page: UnsafeMutableRawPointer
    #endif

    /// Nil where the system makes no such mark: then nothing may be kept that a child must not use again.
    init?() {
        guard Self.isCounting else { return nil }
        forkCount = Self.forkCount
        #if !canImport(Darwin)
            let mapped = mmap(nil, Self.pageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            guard let mapped, mapped != MAP_FAILED else { return nil }
            guard madvise(mapped, Self.pageSize, Self.wipeOnFork) == 0 else {
                munmap(mapped, Self.pageSize)
                return nil
            }
            page = mapped
            page.storeBytes(of: 1, as: UInt8.self)
        #endif
    }

    deinit {
        #if !canImport(Darwin)
            munmap(page, Self.pageSize)
        #endif
    }

    /// False in every child, and in its children, for good.
    var isOfThisProcess: Bool {
        #if canImport(Darwin)
            forkCount == Self.forkCount && processID == getpid()
        #else
            forkCount == Self.forkCount && page.load(as: UInt8.self) == 1
        #endif
    }

    #if !canImport(Darwin)
        private static let pageSize = sysconf(Int32(_SC_PAGESIZE))
        /// `MADV_WIPEONFORK`, which Glibc's module leaves out.
        private static let wipeOnFork: Int32 = 18
    #endif

    /// How many forks have led to this process since it was first asked. Written by a child alone, before it has a
    /// second thread.
    nonisolated(unsafe) private static var forkCount = 0
    private static let isCounting: Bool = pthread_atfork(nil, nil, { ForkMark.forkCount += 1 }) == 0
}
