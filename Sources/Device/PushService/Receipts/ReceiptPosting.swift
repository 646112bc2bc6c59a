import SealedPush

/// Posts what waits: least recently tried first, and no further to an address that does not answer.
struct ReceiptPosting: Sendable {
    let queue: ReceiptQueue
    let hosts: Set<String>
    let fetcher: any Fetching

    func run(at now: Timestamp) async {
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
            guard receipt.due <= now || receipt.due > now.advanced(bySeconds: 86_400),
                !silent.contains(receipt.address)
            else { continue }
            guard count < Self.maximumCount, !Task.isCancelled else { return }
            count += 1
            queue.markTried(name)
            if await isSettled(receipt) { queue.remove(name) } else { silent.insert(receipt.address) }
        }
    }

    /// Posts one: whether it was taken, or refused for good. What may go better another time is kept.
    private func isSettled(_ receipt: WaitingReceipt) async -> Bool {
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
