public import PushSender

/// Takes what is due from an outbox and hands it to a transport, until it is told to stop.
///
/// Of each device, one push is on its way at a time, the oldest first; devices do not wait for one another. Several couriers,
/// in one process or many, may work on one outbox. A push that got no answer is sent again, byte for byte the same and
/// under the same identifiers, so that a device which had it already shows it once.
///
/// Cancelling the task of ``run(until:)``, or ``stop()``, ends it in good order: nothing more is taken, what is on its way is
/// waited for, and what could not be finished is given back.
public actor Courier {
    /// What was done so far.
    public private(set) var report = CourierReport()

    private let outbox: Outbox
    private let transport: any PushTransport
    private let carrier: Carrier
    private let limits: CourierLimits
    private let delays: RetryDelays

    private var inFlight: [Int64: Flight] = [:]
    private var finished: [SettledLease] = []
    private var waiter: CheckedContinuation<Void, Never>?
    private var isStopping = false
    private var isEndless = true
    package private(set) var failure: CourierError?
    private var pause: Pause?
    private var failuresInARow = 0
    private var refusals: Refusals
    private var nextNumber = Int64.random(in: 0...Int64.max >> 2)
    private var considerateShare = 0
    private var nextExtension: Int64 = 0
    private var lastPurge: Int64?
    private var purging: Task<Void, Never>?
    /// What the outbox wants to hear once more: somebody was enqueueing to the device.
    private var unsettled: [SettledLease] = []

    private struct Flight {
        let lease: Lease
        /// Milliseconds, by this host's clock: from then on, another may take it.
        var end: Int64
        let task: Task<Void, Never>
    }

    /// A time in which nothing is taken. Of no effect once the clock was set back before its start.
    struct Pause {
        let start: Int64
        var end: Int64

        func covers(_ now: Int64) -> Bool { start <= now && now < end }
    }

    /// - Parameter carrier: the one that the transport speaks to; what is for others is left alone.
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

    /// Works; call it once.
    ///
    /// - Throws: ``CourierError``, after what was on its way has ended. Nothing is lost: it waits, and another run sends it.
    @discardableResult public func run(until goal: Goal = .stopped) async throws(CourierError) -> CourierReport {
        await withTaskCancellationHandler {
            do throws(OutboxError) { try await work(until: goal) } catch { failure = failure ?? .outbox(error) }
            do throws(OutboxError) { try await drain() } catch { failure = failure ?? .outbox(error) }
        } onCancel: {
            Task { await self.stop() }
        }
        if let failure { throw failure }
        return report
    }

    /// Takes nothing more; ``run(until:)`` returns when what is on its way has ended.
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
            // By this host's clock, and from before the outbox was asked: whatever its clock says, the lease lasts longer.
            let end = outbox.clock.now() + limits.lease.milliseconds
            let leases = try await exchange(taking: order)
            for lease in leases { send(lease, until: end) }
            if !finished.isEmpty { continue }
            // As many as were asked for: there may be more, and there is room for more.
            if let order, leases.count == order.count, inFlight.count < limits.inFlightCount { continue }
            if goal != .stopped, order != nil, leases.isEmpty, inFlight.isEmpty {
                let time = try await outbox.store.timeUntilDue(by: carrier)
                if time == nil, unsettled.isEmpty { return }
                if case .nothingDue(let limit) = goal, let time, time > limit, unsettled.isEmpty { return }
            }
            await rest()
        }
    }

    /// Once an hour, beside the sending: what can't be sent any more need not be kept until its turn comes.
    private func purgeIfDue() {
        guard isClockProven else { return }
        let now = outbox.clock.now()
        if let lastPurge, purging != nil || (lastPurge...lastPurge + Self.purgeInterval).contains(now) { return }
        lastPurge = now
        let outbox = outbox
        purging = Task {
            // Whatever is the matter with the file, the sending finds it, too.
            _ = try? await outbox.purge(.stale)
            purging = nil
        }
    }

    /// Writes down what has ended, holds on to what has not, takes more: one transaction.
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
        guard free > 0, !(pause?.covers(outbox.clock.now()) ?? false), !isStopping else { return nil }
        considerateShare += free
        let considerate = considerateShare / Self.considerateFraction
        considerateShare %= Self.considerateFraction
        // No number twice: three lanes are looked through, and each takes as many numbers as it may find devices.
        defer { nextNumber += Int64(3 * free) }
        return LeaseOrder(
            carrier: carrier, count: free, considerateCount: considerate, duration: limits.lease,
            firstNumber: nextNumber, removesStale: isClockProven)
    }

    /// A clock that is far ahead makes all look stale. That the service takes this run's pushes says that it is not.
    private var isClockProven: Bool { report.acceptedCount > 0 }

    private func leasesToExtend() -> [Lease] {
        let now = outbox.clock.now()
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

    /// Not a child task: cancelling the courier must not cut off what is on its way.
    private func send(_ lease: Lease, until end: Int64) {
        if let fault = outbox.key?.fault(of: lease) {
            // Somebody has been in the database: it costs this one, not all others.
            report.add(.dead(reason: fault), name: fault, waited: nil)
            return finished.append((lease, .dead(reason: fault)))
        }
        let (transport, clock) = (transport, outbox.clock)
        let task = Task {
            let result: Result<PushOutcome, PushTransportError>
            do throws(PushTransportError) {
                // A machine that stood still: by now another may have sent this one, and newer ones.
                guard clock.now() < end else { throw .cancelled }
                // Whoever may only enqueue, or has been in the database, has no clear text sent.
                result = .success(
                    PayloadForm.matches(lease.request.body)
                        ? try await transport.deliver(lease.request) : .change(PushReason("not-sealed")))
            } catch { result = .failure(error) }
            conclude(lease, result)
        }
        inFlight[lease.number] = Flight(lease: lease, end: end, task: task)
        report.inFlightCount = inFlight.count
    }

    private func conclude(_ lease: Lease, _ result: Result<PushOutcome, PushTransportError>) {
        guard inFlight.removeValue(forKey: lease.number) != nil else { return }
        report.inFlightCount = inFlight.count
        let judgment: Judgment
        switch result {
        case .success(let outcome): judgment = Judgment(outcome, attempts: lease.attempts, delays: delays)
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
        // While many are out, their answers are written down together: each transaction costs a sync of the disk.
        wake()
    }

    private func pause(for time: Duration) {
        let now = outbox.clock.now()
        let end = now + time.milliseconds
        pause = Pause(start: now, end: max(pause?.end ?? end, end))
    }

    /// Where one push after another fails, the whole outbox should not be tried in vain.
    private func pauseIfFailing(_ result: Result<PushOutcome, PushTransportError>) {
        guard result.isServersFault else {
            failuresInARow = 0
            return
        }
        failuresInARow += 1
        guard failuresInARow.isMultiple(of: Self.failuresBeforePause) else { return }
        pause(for: delays.afterConnectionFailure(attempts: failuresInARow / Self.failuresBeforePause))
    }

    /// Waits for what is on its way, within a limit, and notes it, also where the file fails for a while; then gives back
    /// what did not end.
    private func drain() async throws(OutboxError) {
        isStopping = true
        let clock = outbox.clock
        let deadline = clock.now() + Self.drainTime
        var problem = await note()
        while clock.now() < deadline && (!inFlight.isEmpty || !unsettled.isEmpty || problem != nil) {
            if finished.isEmpty { await rest() }
            problem = await note()
            if problem != nil { await clock.sleep(limits.pollInterval) }
        }
        for flight in inFlight.values {
            flight.task.cancel()
            finished.append((flight.lease, .later(.zero)))
        }
        inFlight.removeAll()
        report.inFlightCount = 0
        if let problem = await note() { throw problem }
    }

    /// Writes down what has ended; returns why it could not.
    private func note() async -> OutboxError? {
        do throws(OutboxError) {
            _ = try await exchange(taking: nil)
            return nil
        } catch { return error }
    }

    /// Sleeps until something has ended, `stop`, or the poll interval is over.
    private func rest() async {
        guard finished.isEmpty, !isStopping || !inFlight.isEmpty || !unsettled.isEmpty else { return }
        let (store, clock, carrier) = (outbox.store, outbox.clock, carrier)
        // Who is to end when nothing is due looks for that, too: what others deliver wakes nobody.
        let sleepsUntilWoken = isEndless && !isStopping
        let interval = unsettled.isEmpty ? limits.pollInterval : min(limits.pollInterval, Self.unsettledPause)
        let alarm = Task {
            if sleepsUntilWoken { await store.rest(for: interval, by: carrier) } else { await clock.sleep(interval) }
            if !Task.isCancelled { wake() }
        }
        await withCheckedContinuation { waiter = $0 }
        alarm.cancel()
    }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }

    /// One of eight leases goes to the considerate lane first.
    private static let considerateFraction = 8
    private static let failuresBeforePause = 50
    private static let unsettledPause = Duration.milliseconds(20)
    /// How long a stopped courier waits for answers that are out, in milliseconds.
    private static let drainTime: Int64 = 30_000
    /// Milliseconds.
    private static let purgeInterval: Int64 = 3_600_000
}
