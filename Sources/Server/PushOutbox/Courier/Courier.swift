public import PushSender
internal import SealedPush

/// Takes due pushes from an outbox and hands them to a transport until it is stopped.
///
/// A courier is the half of sending that has patience. It keeps as many pushes in transit as ``CourierLimits`` allows, waits out
/// failures, and leaves nothing behind: whatever it took and didn't finish goes back to the queue.
///
/// ```swift
/// let courier = Courier(for: outbox, through: transport)
/// let report = try await courier.run(until: .stopped)
/// ```
/// In a loop, it does all of its work with the database in one transaction at a time:
/// 1. It records the outcomes of pushes that have come back.
/// 2. It extends the leases of those still in transit, when half of their time is over.
/// 3. It leases as many due pushes as there is room for, the oldest of each device. A lease is the right to send a push until a
///    certain time. If a courier dies, its leases end, and another courier takes over.
///
/// Each leased push goes to the transport in a task of its own. The answer decides what follows: the push is deleted, deferred,
/// or buried as a dead letter; a device that is gone loses its address. If one push after another fails, or the service asks
/// for time, the courier pauses as a whole instead of trying the queue in vain. It ends with an error only if more attempts
/// would do harm, such as when Apple refuses the server's own key; see ``CourierError``.
///
/// Promises:
/// - Each device has at most one push in transit, the oldest first. Devices don't wait for one another.
/// - A push without a response is sent again, byte for byte the same and with the same identifiers. So a device that already
///   received it shows it only once.
/// - Only sealed payloads are sent. A row with anything else, or with a wrong code, is buried. The database isn't trusted.
/// - No push is deleted as expired by a clock that is wrong: that waits until the service has accepted a push of this run.
///
/// A courier doesn't know Apple. It knows `PushOutcome` and the delays of its policy, so another transport needs no change
/// here. Several couriers, in one process or many, can work on one outbox; leases keep them apart.
///
/// A courier runs once. To end it cleanly, cancel the task of ``run(until:)`` or call ``stop()``. It then takes no more pushes,
/// waits up to 30 seconds for those in transit, and returns the unfinished ones to the queue.
public actor Courier {
    /// The work done so far.
    public private(set) var report = CourierReport()

    private let outbox: Outbox
    private let transport: any PushTransport
    private let carrier: Carrier
    private let limits: CourierLimits
    private let delays: RetryDelays

    private var inFlight: [Int64: Flight] = [:]
    private var finished: [SettledLease] = []
    private var waiter: CheckedContinuation<Void, Never>?
    private var hasRun = false
    private var isStopping = false
    private var isEndless = true
    package private(set) var failure: CourierError?
    /// The uptime until which no pushes are taken.
    private var pauseEnd: Int64?
    private var failuresInARow = 0
    private var refusals: Refusals
    private var nextNumber = Int64.random(in: 0...Int64.max >> 2)
    private var considerateShare = 0
    private var nextExtension: Int64 = 0
    private var lastPurge: Int64?
    private var purging: Task<Void, Never>?
    /// The wall clock's offset when the latest accepted push was sent, or nil if none was accepted.
    private var provenOffset: Int64?
    /// Whether this run may have buried pushes as expired because the clock was wrong.
    private var mayHaveBuried = true
    /// The outcomes to submit again, because another process was enqueueing to the device.
    private var unsettled: [SettledLease] = []

    private struct Flight {
        let lease: Lease
        /// The lease's end, as an uptime in milliseconds. After that, another courier may take the push.
        var end: Int64
        /// The wall clock and its offset when the push was sent.
        let sent: (now: Int64, offset: Int64)
        let task: Task<Void, Never>
    }

    /// Creates a courier. It ignores pushes for carriers other than `carrier`, which the transport must support.
    public init(
        for outbox: Outbox, through transport: any PushTransport, carrier: Carrier = .apns(),
        limits: CourierLimits = CourierLimits()
    ) {
        self.outbox = outbox
        self.transport = transport
        self.carrier = carrier
        self.limits = limits
        delays = RetryDelays(factor: limits.delayFactor)
        refusals = Refusals(endingAt: limits.refusedInARow)
    }

    /// Runs the courier. A second call is a programming error, which traps.
    ///
    /// - Throws: ``CourierError``, after the pushes in transit have finished. No push is lost: another run sends the rest.
    @discardableResult public func run(until goal: Goal = .stopped) async throws(CourierError) -> CourierReport {
        precondition(!hasRun, "a courier runs once; create another one for another run")
        hasRun = true
        await withTaskCancellationHandler {
            do throws(OutboxError) { try await work(until: goal) } catch { failure = failure ?? .outbox(error) }
            do throws(OutboxError) { try await drain() } catch { failure = failure ?? .outbox(error) }
        } onCancel: {
            Task { await self.stop() }
        }
        if let failure { throw failure }
        return report
    }

    /// Stops taking pushes. ``run(until:)`` returns when the pushes in transit have finished.
    public func stop() {
        isStopping = true
        wake()
    }

    private func work(until goal: Goal) async throws(OutboxError) {
        try await outbox.requireKey(marking: false)
        isEndless = goal == .stopped
        refusals.isEstablished = try await outbox.store.hasProvenAddress(of: carrier)
        while !isStopping && !Task.isCancelled && failure == nil {
            purgeIfDue()
            let order = order()
            // Read before asking the outbox, so the lease ends later, whatever the outbox's clock is.
            let end = outbox.clock.uptime() + limits.lease.milliseconds
            let leases = try await exchange(taking: order)
            for lease in leases { send(lease, until: end) }
            if !finished.isEmpty { continue }
            // The order was filled completely. There may be more pushes, and there is room for them.
            if let order, leases.count == order.count, inFlight.count < limits.inFlightCount { continue }
            if goal != .stopped, order != nil, leases.isEmpty, inFlight.isEmpty {
                let time = try await outbox.store.timeUntilDue(by: carrier)
                if time == nil, unsettled.isEmpty { return }
                if case .nothingDue(let limit) = goal, let time, time > limit, unsettled.isEmpty { return }
            }
            await rest()
        }
    }

    /// Once an hour, alongside sending, purges pushes that can no longer be sent, instead of keeping them until their turn.
    private func purgeIfDue() {
        guard isClockProven else {
            mayHaveBuried = true
            return
        }
        let now = outbox.clock.uptime()
        if let lastPurge, purging != nil || now < lastPurge + Self.purgeInterval && !mayHaveBuried { return }
        lastPurge = now
        let (outbox, mayHaveBuried) = (outbox, mayHaveBuried)
        self.mayHaveBuried = false
        purging = Task {
            // If the file has a problem, sending runs into it, too.
            if mayHaveBuried { _ = try? await outbox.retryUnexpired() }
            _ = try? await outbox.purge(.expired)
            purging = nil
        }
    }

    /// Records finished leases, extends unfinished ones, and takes more, in one transaction.
    private func exchange(taking order: LeaseOrder?) async throws(OutboxError) -> [Lease] {
        let settled = unsettled + finished
        finished.removeAll(keepingCapacity: true)
        unsettled.removeAll()
        let extended = leasesToExtend()
        guard !settled.isEmpty || !extended.isEmpty || order != nil else { return [] }
        do throws(OutboxError) {
            let answer = try await outbox.store.settle(
                LeaseExchange(settled: settled, extended: extended, hold: limits.lease, order: order))
            unsettled = answer.unsettled
            return answer.leases
        } catch {
            finished = settled + finished
            throw error
        }
    }

    private func order() -> LeaseOrder? {
        let free = limits.inFlightCount - inFlight.count
        guard free > 0, outbox.clock.uptime() >= pauseEnd ?? .min, !isStopping else { return nil }
        considerateShare += free
        let considerate = considerateShare / Self.considerateFraction
        considerateShare %= Self.considerateFraction
        // Numbers are never reused: an order uses at most one for each free place.
        defer { nextNumber += Int64(free) }
        return LeaseOrder(
            carrier: carrier, count: free, considerateCount: considerate, duration: limits.lease,
            firstNumber: nextNumber, removesExpired: isClockProven)
    }

    /// A clock that is far ahead makes every push look expired. If the service accepted a push of this run, whose token has
    /// the clock's time, the clock is right, unless it was set since.
    private var isClockProven: Bool {
        provenOffset.map { abs(outbox.clock.reading().offset - $0) < Self.clockTolerance } ?? false
    }

    private func leasesToExtend() -> [Lease] {
        let now = outbox.clock.uptime()
        let half = limits.lease.milliseconds / 2
        var extended: [Lease] = []
        guard now >= nextExtension else { return [] }
        nextExtension = now + max(half / 2, 1)
        for (number, flight) in inFlight where flight.end - now < half {
            inFlight[number]?.end = now + limits.lease.milliseconds
            extended.append(flight.lease)
        }
        return extended
    }

    /// Not a child task, because canceling the courier must not cut off pushes in transit.
    private func send(_ lease: Lease, until end: Int64) {
        if let fault = outbox.key?.fault(of: lease) {
            // The row was tampered with. Reject it without stopping the others.
            report.add(.refused(reason: fault), name: fault, waited: nil)
            return finished.append((lease, .refused(reason: fault)))
        }
        let (transport, clock) = (transport, outbox.clock)
        let sent = clock.reading()
        let task = Task {
            let result: Result<PushOutcome, PushTransportError>
            do throws(PushTransportError) {
                // This machine may have been suspended: by now, another courier may have sent this push and newer ones.
                guard clock.uptime() < end else { throw .canceled }
                // A process that may only enqueue, or an attacker with the database, must not be able to send clear text. The
                // code doesn't show that: a process that enqueues has the outbox's key.
                result = .success(
                    PayloadForm.matches(lease.request.body)
                        ? try await transport.deliver(lease.request) : .change(PushReason("not-sealed")))
            } catch { result = .failure(error) }
            conclude(lease, result)
        }
        inFlight[lease.number] = Flight(lease: lease, end: end, sent: sent, task: task)
        report.inFlightCount = inFlight.count
    }

    private func conclude(_ lease: Lease, _ result: Result<PushOutcome, PushTransportError>) {
        guard let flight = inFlight.removeValue(forKey: lease.number) else { return }
        report.inFlightCount = inFlight.count
        if case .success(.accepted) = result { provenOffset = flight.sent.offset }
        let judgment: Judgment
        switch result {
        case .success(let outcome):
            let sent = Timestamp(clamping: flight.sent.now / 1_000)
            judgment = Judgment(outcome.known(at: sent), attempts: lease.attempts, delays: delays)
        case .failure(let error):
            report.latestFailure = error.words ?? report.latestFailure
            judgment = Judgment(error, attempts: lease.attempts, delays: delays)
        }
        let end = refusals.add(result, isProven: lease.request.isProven)
        let settlement = end == nil ? judgment.settlement : .returned
        report.add(
            settlement, name: result.name, waited: lease.entryRow.enqueued.map { outbox.clock.now() - max($0, 0) })
        if let time = judgment.pause { pause(for: time) }
        pauseIfFailing(result)
        failure = failure ?? judgment.stop ?? end
        finished.append((lease, settlement))
        // While many pushes are in transit, their outcomes are recorded together: each transaction costs a disk sync.
        wake()
    }

    private func pause(for time: Duration) {
        let end = outbox.clock.uptime() + time.milliseconds
        pauseEnd = max(pauseEnd ?? end, end)
    }

    /// If one push after another fails, pauses instead of trying the whole outbox in vain.
    private func pauseIfFailing(_ result: Result<PushOutcome, PushTransportError>) {
        guard result.isServersFault else {
            failuresInARow = 0
            return
        }
        failuresInARow += 1
        guard failuresInARow.isMultiple(of: Self.failuresBeforePause) else { return }
        pause(for: delays.afterConnectionFailure(attempts: failuresInARow / Self.failuresBeforePause))
    }

    /// Waits for pushes in transit, up to a time limit, and records their outcomes, even if the file fails for a while.
    /// Then returns the unfinished ones to the queue.
    private func drain() async throws(OutboxError) {
        isStopping = true
        let clock = outbox.clock
        let deadline = clock.uptime() + Self.drainTime
        var problem = await note()
        while clock.uptime() < deadline && (!inFlight.isEmpty || !unsettled.isEmpty || problem != nil) {
            if finished.isEmpty { await rest() }
            problem = await note()
            guard problem != nil else { continue }
            // In a task of its own: this one may be canceled, and then its sleep would end at once.
            let pause = Task { [limits] in await clock.sleep(limits.pollInterval) }
            await pause.value
        }
        for flight in inFlight.values {
            flight.task.cancel()
            finished.append((flight.lease, .later(.zero)))
        }
        inFlight.removeAll()
        report.inFlightCount = 0
        if let problem = await note() { throw problem }
    }

    /// Records finished leases; returns the error if that failed.
    private func note() async -> OutboxError? {
        do throws(OutboxError) {
            _ = try await exchange(taking: nil)
            return nil
        } catch { return error }
    }

    /// Sleeps until a push finishes, `stop` is called, or the poll interval elapses.
    private func rest() async {
        guard finished.isEmpty, !isStopping || !inFlight.isEmpty || !unsettled.isEmpty else { return }
        let (store, clock, carrier) = (outbox.store, outbox.clock, carrier)
        // A courier that ends when nothing is due must poll for that: deliveries by other couriers don't wake it.
        let sleepsUntilWoken = isEndless && !isStopping
        let interval = unsettled.isEmpty ? limits.pollInterval : min(limits.pollInterval, Self.unsettledPause)
        let alarm = Task {
            if sleepsUntilWoken { await store.rest(for: interval, by: carrier) } else { await clock.sleep(interval) }
            if !Task.isCancelled { wake() }
        }
        await withCheckedContinuation { waiter = $0 }
        alarm.cancel()
    }

    private func wake() { waiter.take()?.resume() }

    /// One in eight leases goes to the considerate lane first.
    private static let considerateFraction = 8
    private static let failuresBeforePause = 50
    private static let unsettledPause = Duration.milliseconds(20)
    /// How long a stopped courier waits for outstanding responses, in milliseconds.
    private static let drainTime: Int64 = 30_000
    /// Milliseconds.
    private static let purgeInterval: Int64 = 3_600_000
    /// Milliseconds.
    private static let clockTolerance: Int64 = 60_000
}
