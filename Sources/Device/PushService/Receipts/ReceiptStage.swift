import Foundation
import SealedPush

/// Tells the server that a message was shown, where the message asks for that, and how many did not open before it.
///
/// It begins when the content has been handed over, so it delays nothing, unless the app wants it first. A receipt is put into a queue in the shared
/// container first, and is posted then; what can't be posted, or is cut off when the system suspends the process, goes
/// with the next notifications, for 7 days. A repeat is counted once. What did not open is counted by reason in the container, and
/// travels with the next receipt. At most 32 receipts wait; the oldest go first.
///
/// The network sees the server's address, the time, and 128 bytes inside TLS. No content is in them. Cost: a file with one sync
/// (a few milliseconds), and one request. Source: Specification 16.
public struct ReceiptStage: ServiceStage {
    private let hosts: Set<String>
    private let maximumDelay: Duration
    private let postsFirst: Bool

    /// - Parameters:
    ///   - hosts: the names of the app's own servers. To any other, however the message names it, nothing is sent: so a
    ///     stolen sender's key does not make devices show where they are.
    ///   - maximumDelay: each receipt waits for a random time, at most this, so that who watches the network can't tell which
    ///     push it belongs to. What waits for more than 10 seconds goes with a later notification.
    ///   - postsFirst: whether the receipt is posted before the notification is shown, which then waits for it for up to two
    ///     seconds. iOS doesn't promise any time after the notification was handed over: without this, and with few
    ///     pushes, a receipt may come with the next push. A delay of its own makes no sense then.
    public init(hosts: Set<String>, maximumDelay: Duration = .zero, postsFirst: Bool = false) {
        precondition(maximumDelay >= .zero && maximumDelay <= .seconds(86_400), "a receipt waits for a day at most")
        precondition(!postsFirst || maximumDelay == .zero, "a receipt that is posted first has no delay")
        self.hosts = Set(hosts.map { $0.lowercased() })
        self.postsFirst = postsFirst
        self.maximumDelay = maximumDelay
    }

    /// Two seconds, if the receipt is posted first.
    public var pace: StagePace { .quick }

    public func parts(of draft: NotificationDraft) -> [any ServiceStage] { postsFirst ? [self] : [] }

    /// Posts first, and leaves everything as it is.
    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        await post(about: draft, elapsed: .now - context.start, in: context)
        return draft
    }

    public func finished(_ result: StageResult, in context: StageContext) async {
        switch result {
        case .safeDefault(let reason): context.ownFolder.map(ReceiptQueue.init(in:))?.count(reason)
        case .opened(let draft, let elapsed): await post(about: draft, elapsed: elapsed, in: context)
        }
    }

    /// Queues the notification's receipt, once, and posts what waits.
    private func post(about draft: NotificationDraft, elapsed: Duration, in context: StageContext) async {
        guard let queue = context.ownFolder.map(ReceiptQueue.init(in:)) else { return }
        let now = context.now()
        let delay = Int64.random(in: 0...maximumDelay.components.seconds)
        if let request = request(of: draft, at: now, by: context.fetcher), context.takesReceipt() {
            let receipt = ReceiptBody(answering: request, about: draft.opened.id, created: now, elapsed: elapsed)
            queue.add(receipt, answering: request, due: now.advanced(bySeconds: delay), takingFailures: !draft.isRepeat)
            // Longer than this, the system would have suspended the process.
            if delay <= 10 { try? await Task.sleep(for: .seconds(delay)) }
        }
        await postWaiting(in: queue, environment: context.environment)
    }

    /// Posts what waits. For the app: when it becomes active, say.
    public func postWaiting(in container: SharedContainer) async {
        await postWaiting(in: container, environment: .system)
    }

    package func postWaiting(in container: SharedContainer, environment: DeviceEnvironment) async {
        guard let folder = environment.folder(container) else { return }
        await postWaiting(in: ReceiptQueue(in: folder), environment: environment)
    }

    /// Nil where the message asks for no receipt, or for one that this app does not send.
    private func request(of draft: NotificationDraft, at now: Timestamp, by fetcher: any Fetching) -> ReceiptRequest? {
        // The server has forgotten a late repeat's number.
        guard draft.opened.sender != nil, let request = draft.opened.content.receipt,
            request.address.isAllowed(hosts, by: fetcher), !draft.isLateRepeat(at: now)
        else { return nil }
        return request
    }
}

extension ReceiptAddress {
    /// The app's own servers by `https`, and whatever this fetcher reaches all the same.
    func isAllowed(_ hosts: Set<String>, by fetcher: any Fetching) -> Bool {
        if isSecure, hosts.contains(host) { return true }
        return url.flatMap(NetworkHost.init).map(fetcher.exempts) ?? false
    }

    var url: URL? { URL(string: description) }
}

extension ReceiptStage {
    /// Posts what waits, when it is its turn; what is not posted now is, with the next one.
    private func postWaiting(in queue: ReceiptQueue, environment: DeviceEnvironment) async {
        try? await environment.budget.receipts.take {
            await post(from: queue, by: environment.fetcher, at: environment.now())
        }
    }

    /// Least recently tried first, and no further to an address that does not answer.
    private func post(from queue: ReceiptQueue, by fetcher: any Fetching, at now: Timestamp) async {
        var silent: Set<ReceiptAddress> = []
        var count = 0
        for name in queue.waitingByTrial() {
            let age = now.secondsSince1970 - WaitingReceipt.created(inName: name)
            guard age <= Self.maximumAge else {
                queue.remove(name)
                continue
            }
            guard let receipt = queue.receipt(named: name) else { continue }
            guard receipt.address.isAllowed(hosts, by: fetcher) else {
                queue.remove(name)
                continue
            }
            // A clock that was set back must not hold one back for long.
            guard receipt.due <= now || receipt.due > now.advanced(bySeconds: 86_400), !silent.contains(receipt.address)
            else { continue }
            guard count < Self.maximumCount, !Task.isCancelled else { return }
            count += 1
            queue.markTried(name)
            if await isSettled(receipt, by: fetcher) { queue.remove(name) } else { silent.insert(receipt.address) }
        }
    }

    /// Posts one: whether it was taken, or refused for good. What may go better another time is kept.
    private func isSettled(_ receipt: WaitingReceipt, by fetcher: any Fetching) async -> Bool {
        guard let url = receipt.address.url else { return true }
        // Of the answer, the status alone is read.
        let request = FetchRequest(url: url, body: receipt.body, deadline: .now + Self.longestWait)
        switch try? await fetcher.answer(to: request).status {
        case .some(200...299): return true
        case .some(408), .some(425), .some(429): return false
        case .some(400...499): return true
        default: return false
        }
    }

    private static let longestWait = Duration.seconds(10)

    /// Of one run, so that a long queue does not take all of the time that is left.
    private static let maximumCount = 8
    /// In seconds: what is older is refused. Source: Specification 16.5.
    private static let maximumAge: Int64 = 7 * 86_400
}
