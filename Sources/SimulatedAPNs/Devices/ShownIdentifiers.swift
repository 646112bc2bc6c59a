/// What a device has on its screen: the identifiers of the newest 1,000 notifications, at about 150 bytes each.
///
/// Only a word in the output rests on it. That nothing is shown twice as new is the extension's ledger's business.
struct ShownIdentifiers: Sendable {
    private var known: Set<String> = []
    /// Oldest first.
    private var order: [String] = []

    var count: Int { known.count }

    /// False where it was there already; it is the newest either way. Costs a look at all of them at worst.
    mutating func insert(_ identifier: String) -> Bool {
        let isNew = known.insert(identifier).inserted
        if !isNew, let place = order.lastIndex(of: identifier) { order.remove(at: place) }
        order.append(identifier)
        if order.count > Self.maximumCount { known.remove(order.removeFirst()) }
        return isNew
    }

    static let maximumCount = 1_000
}
