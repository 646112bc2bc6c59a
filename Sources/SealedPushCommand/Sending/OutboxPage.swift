internal import CommandSupport
internal import PushOutbox
internal import PushPage
internal import _PushBase

/// What `serve --page` shows of an outbox: names, counts and reasons, and nothing of any message.
struct OutboxPage: Sendable {
    let page: WatchPage
    let outbox: Outbox

    /// Nil where no page is wanted.
    init?(at place: PagePlace?, of outbox: Outbox) async throws {
        guard let place else { return nil }
        do throws(PageError) { page = try await WatchPage.start(at: place, title: "sealedpush serve") } catch {
            throw Failure.file(error.description)
        }
        self.outbox = outbox
    }

    /// Looks at the outbox four times a second, or as seldom as that is slow, while somebody looks at the page.
    func follow() async {
        var before: [String: Int]?
        while !Task.isCancelled {
            let start = ContinuousClock.now
            if page.isWatched {
                do {
                    let status = try await outbox.status()
                    show(status, since: before)
                    before = status.outcomes
                    page.show(
                        try await outbox.devices(limit: 50).map { ($0.name.description, Self.words(for: $0.address)) },
                        under: "Phones")
                } catch { page.tell("the outbox can't be read: \(error)", .bad) }
            } else {
                before = nil
            }
            try? await Task.sleep(for: max(.milliseconds(250), (.now - start) * 10))
        }
    }

    private func show(_ status: OutboxStatus, since before: [String: Int]?) {
        page.show(
            [
                ("waiting", "\(status.waitingCount)"), ("phones", "\(status.deviceCount)"),
                ("phones that can be reached", "\(status.reachableDeviceCount)"),
                ("phones whose pushes go out now", "\(status.queues.leased)"),
                ("phones whose pushes are put off", "\(status.queues.delayed)"),
            ], under: "Waiting")
        page.show(
            status.outcomes.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }, under: "Gone, in 30 days")
        for (name, count) in status.outcomes.sorted(by: { $0.key < $1.key }) {
            let new = count - (before?[name] ?? (before == nil ? count : 0))
            if new > 0 { page.tell("\(new) \(name)", name == "accepted" ? .good : .bad) }
        }
    }

    private static func words(for address: AddressState) -> String {
        switch address {
        case .active: "reachable"
        case .disabled(_, _, let reason): "refused: \(reason)"
        case .none(_, let reason): reason.map { "no address: \($0)" } ?? "no address"
        }
    }
}
