internal import Foundation
internal import PushCore
internal import PushSimulator
internal import SimulatedAPNs

/// What `apns --page` shows: what Apple sees of each push, and the phones' lock screens. It shows opened texts, since it is
/// the phone. Safe from several threads.
final class APNsPage: Sendable {
    private let page: WatchPage
    private let state = Locked(State())
    /// Of phones, and of what is on each screen.
    private static let (phoneLimit, screenLimit) = (50, 20)

    private struct State {
        var counts = ["accepted": 0]
        var screens: [String: [PageNotification]] = [:]
    }

    init(_ page: WatchPage) { self.page = page }

    func take(_ event: LocalAPNsEvent) {
        // Under the lock, so that what is newer is shown later.
        state.withLock { state in
            switch event {
            case .requested(let device, let reason):
                state.counts[reason ?? "accepted", default: 0] += 1
                page.show(state.counts.sorted { $0.key < $1.key }.map { ($0.key, String($0.value)) }, under: "Pushes")
                page.tell(
                    "APNs: a push for \(device ?? "nobody"): \(reason ?? "accepted")", reason == nil ? .plain : .bad)
            case .showed(let device, let shown): show(shown, on: device, &state)
            }
        }
    }

    private func show(_ shown: ShownOnDevice, on device: String, _ state: inout State) {
        let note =
            switch shown.outcome {
            case .opened: "opened"
            case .safeDefault: "safe default: \(shown.reason ?? "unknown")"
            case .original: "the wire's own text"
            case .modified: "not sealed"
            case .notShown: "not shown: \(shown.reason ?? "unknown")"
            }
        let tone: PageTone = shown.outcome == .opened ? .good : .bad
        page.tell("\(device): \(note)", tone)
        guard shown.outcome != .notShown, state.screens[device] != nil || state.screens.count < Self.phoneLimit else {
            return
        }
        var screen = state.screens[device] ?? []
        screen.removeAll { $0.identifier == shown.identifier }
        screen.insert(
            PageNotification(
                identifier: shown.identifier, title: shown.title, subtitle: shown.subtitle, body: shown.body,
                note: note, tone: tone), at: 0)
        state.screens[device] = Array(screen.prefix(Self.screenLimit))
        page.show(state.screens[device] ?? [], onPhone: device)
    }

    /// Looks at the devices twice a second, while somebody looks at the page.
    func follow(_ server: LocalAPNs) async {
        var turn = 0
        while !Task.isCancelled {
            turn += 1
            if turn % 30 == 0 { page.beat() }
            if page.isWatched {
                let counts = server.deviceCounts
                page.show(
                    [
                        ("known", "\(counts.devices)"), ("online", "\(counts.online)"),
                        ("pushes that wait", "\(counts.waiting)"),
                    ], under: "Phones")
            }
            try? await Task.sleep(for: .milliseconds(500))
        }
    }
}
