internal import NIOCore

/// What a look at the clock brings, ten times a second.
extension APNSConnection {
    func tick(now: NIODeadline) {
        let deadlines = lane.deadlines
        switch phase {
        case .connecting:
            if now - openedAt >= deadlines.connect {
                close(because: "no connection within \(deadlines.connect.nanoseconds / 1_000_000) ms")
            }
        case .ready, .draining:
            expireStreams(now: now)
            checkSilence(now: now)
            if phase == .ready, streams.isEmpty, now - lastUsedAt >= deadlines.idle {
                retire(because: "idle", isOurs: true)
            }
            if !streams.isEmpty { lastUsedAt = now }
            closeIfDrained()
            flush()
        case .closed: break
        }
    }

    private func expireStreams(now: NIODeadline) {
        let expired = streams.filter { $0.value.deadline <= now }
        for streamID in expired.keys.sorted() {
            guard let delivery = abandon(streamID) else { continue }
            lane.timedOut(delivery, on: self)
        }
    }

    private func checkSilence(now: NIODeadline) {
        if let pingSentAt {
            if now - pingSentAt >= lane.deadlines.ping { close(because: "no answer to a ping") }
            return
        }
        let patience = streams.isEmpty ? lane.deadlines.pingWhileIdle : lane.deadlines.pingWhileBusy
        guard now - lastReceivedAt >= patience else { return }
        pingSentAt = now
        writer.ping(UInt64(number))
    }
}
