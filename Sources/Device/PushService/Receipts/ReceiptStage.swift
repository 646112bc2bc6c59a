import Foundation
internal import PushCore
import SealedPush

/// Tells the server that a message was shown, if the message asks for that, and how many messages before it didn't open.
///
/// Receipts are sent after the content has been handed over, so they cause no delay unless the app wants them first. A
/// receipt is queued in the shared container before it's posted. One that can't be posted, or is cut off when the system
/// suspends the process, is retried with later ones, for 7 days. A repeat is counted once. Failures to open are counted by
/// reason in the container and sent with the next receipt. At most 32 receipts wait; the oldest are dropped first.
///
/// The network sees the server's address, the time, and 128 bytes inside TLS, which contain no content. Cost: a file with
/// one sync (a few milliseconds), and one request. Source: ContentParts 16.
public struct ReceiptStage: ServiceStage {
    private let hosts: Set<String>
    private let maximumDelay: Duration
    private let postsFirst: Bool

    /// Creates a stage that sends receipts.
    ///
    /// - Parameters:
    ///   - hosts: The names of the app's own servers; for an account with a name, its server is added. No receipt is sent to any
    ///     other host that a message names, so a stolen sender key can't make devices reveal where they are.
    ///   - maximumDelay: The limit of each receipt's random delay, which keeps a network observer from telling which push
    ///     it belongs to. At most a day. If longer than 10 seconds, the receipt goes with a later notification.
    ///   - postsFirst: Whether to post the receipt before the notification is shown, which then waits up to two seconds.
    ///     Allows no delay. iOS promises no time after the handover, so without this, a receipt may wait for the next push.
    public init(hosts: Set<String>, maximumDelay: Duration = .zero, postsFirst: Bool = false) {
        precondition(maximumDelay >= .zero && maximumDelay <= .seconds(86_400), "`maximumDelay` must be 0 to 24 hours")
        precondition(!postsFirst || maximumDelay == .zero, "`postsFirst` allows no `maximumDelay`")
        self.hosts = Set(hosts.map { $0.lowercased() })
        self.postsFirst = postsFirst
        self.maximumDelay = maximumDelay
    }

    /// Quick: if the receipt is posted first, it has two seconds.
    public var pace: StagePace { .quick }

    /// Returns the stage itself if receipts are posted first; otherwise none.
    public func parts(of draft: NotificationDraft) -> [any ServiceStage] { postsFirst ? [self] : [] }

    /// Posts the receipt first, and returns the draft unchanged.
    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        await post(about: draft, elapsed: .now - context.start, in: context)
        return draft
    }

    /// Counts a failure to open, or queues and posts the receipt of a message that opened.
    public func finished(_ result: StageResult, in context: StageContext) async {
        switch result {
        case .safeDefault(let reason): context.accountFolder.map(ReceiptQueue.init(in:))?.count(reason)
        case .opened(let draft, let elapsed): await post(about: draft, elapsed: elapsed, in: context)
        }
    }

    /// Queues the notification's receipt, once, and posts waiting receipts.
    private func post(about draft: NotificationDraft, elapsed: Duration, in context: StageContext) async {
        guard let queue = context.accountFolder.map(ReceiptQueue.init(in:)) else { return }
        let now = context.now()
        let delay = Int64.random(in: 0...maximumDelay.components.seconds)
        let hosts = hosts(of: context.account)
        if let request = request(of: draft, at: now, to: hosts, by: context.fetcher), context.takesReceipt() {
            let receipt = ReceiptBody(answering: request, about: draft.opened.id, created: now, elapsed: elapsed)
            queue.add(receipt, answering: request, due: now.advanced(bySeconds: delay), takingFailures: !draft.isRepeat)
            // After a longer delay, the system would have suspended the process.
            if delay <= 10 { try? await Task.sleep(for: .seconds(delay)) }
        }
        await postWaiting(in: queue, to: hosts, environment: context.environment)
    }

    /// The hosts to which receipts about an account's messages may go; nil for the app's own account.
    private func hosts(of account: PushAccount?) -> Set<String> { hosts.union(account?.host.map { [$0] } ?? []) }

    /// Posts waiting receipts. For the app, such as when it becomes active.
    public func postWaiting(in container: SharedContainer) async {
        await postWaiting(in: container, environment: .system)
    }

    package func postWaiting(in container: SharedContainer, environment: DeviceEnvironment) async {
        guard let folder = environment.folder(container) else { return }
        await postWaiting(in: ReceiptQueue(in: folder), to: hosts, environment: environment)
    }

    /// Posts an account's waiting receipts, as ``postWaiting(in:)`` does for the app's own.
    public func postWaiting(of account: ServiceConfiguration) async {
        guard let folder = account.folder else { return }
        await postWaiting(
            in: ReceiptQueue(in: folder), to: hosts(of: account.account), environment: account.environment)
    }

    /// Returns nil if the message asks for no receipt, or for one that this app doesn't send.
    private func request(
        of draft: NotificationDraft, at now: Timestamp, to hosts: Set<String>, by fetcher: any Fetching
    ) -> ReceiptRequest? {
        // The server has forgotten a late repeat's number.
        guard draft.opened.sender != nil, let request = draft.opened.content.receipt,
            request.address.isAllowed(hosts, by: fetcher), !draft.isLateRepeat(at: now)
        else { return nil }
        return request
    }
}

extension ReceiptAddress {
    /// Whether this is one of the app's own servers by `https`, or a host that the fetcher exempts.
    func isAllowed(_ hosts: Set<String>, by fetcher: any Fetching) -> Bool {
        if isSecure, hosts.contains(host) { return true }
        return url.flatMap(NetworkHost.init).map(fetcher.exempts) ?? false
    }

    var url: URL? { URL(string: description) }
}

extension ReceiptStage {
    /// Posts waiting receipts in turn; those not posted now go with the next one.
    private func postWaiting(in queue: ReceiptQueue, to hosts: Set<String>, environment: DeviceEnvironment) async {
        try? await environment.budget.receipts.run {
            await post(from: queue, to: hosts, by: environment.fetcher, at: environment.now())
        }
    }

    /// Posts the least recently tried first, and gives up on an address that doesn't answer.
    private func post(
        from queue: ReceiptQueue, to hosts: Set<String>, by fetcher: any Fetching, at now: Timestamp
    ) async {
        var silent: Set<ReceiptAddress> = []
        var count = 0
        for name in queue.waitingByTrial() {
            let age = now.secondsSince1970 - WaitingReceipt.created(inName: name)
            guard age <= ReceiptBody.maximumAge else {
                queue.remove(name)
                continue
            }
            guard let receipt = queue.receipt(named: name) else { continue }
            guard receipt.address.isAllowed(hosts, by: fetcher) else {
                queue.remove(name)
                continue
            }
            // A clock that was set back must not hold a receipt back for long.
            guard receipt.due <= now || receipt.due > now.advanced(bySeconds: 86_400), !silent.contains(receipt.address)
            else { continue }
            guard count < Self.maximumCount, !Task.isCancelled else { return }
            count += 1
            queue.markTried(name)
            if await isSettled(receipt, by: fetcher) { queue.remove(name) } else { silent.insert(receipt.address) }
        }
    }

    /// Posts a receipt. Returns whether it was accepted or permanently refused; one that may succeed later is kept.
    private func isSettled(_ receipt: WaitingReceipt, by fetcher: any Fetching) async -> Bool {
        guard let url = receipt.address.url else { return true }
        // Only the answer's status is read.
        let request = FetchRequest(url: url, body: receipt.body, deadline: .now + fetcher.patience)
        switch try? await fetcher.answer(to: request).status {
        case .some(200...299): return true
        case .some(408), .some(425), .some(429): return false
        case .some(400...499): return true
        default: return false
        }
    }

    /// Per run, so that a long queue doesn't take all the time that is left.
    private static let maximumCount = 8
}
