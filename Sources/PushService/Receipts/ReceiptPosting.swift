import SealedPush

/// Posts what waits: least recently tried first, and no further to an address that does not answer.
struct ReceiptPosting: Sendable {
    let queue: ReceiptQueue
    let hosts: Set<String>
    let allowsLoopback: Bool

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
            guard receipt.address.isAllowed(hosts, allowsLoopback: allowsLoopback) else {
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
            switch await ReceiptPost.run(receipt) {
            case .settled: queue.remove(name)
            case .later: silent.insert(receipt.address)
            }
        }
    }

    /// Of one run, so that a long queue does not take all of the time that is left.
    private static let maximumCount = 8
    /// In seconds: what is older is refused. Source: Specification 16.5.
    private static let maximumAge: Int64 = 7 * 86_400
}
