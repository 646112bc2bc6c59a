/// Remembers for which device tokens APNs has accepted a push, within a fixed amount of memory.
///
/// Two sets of hashes: the younger is filled and becomes the older when it is full; what is used moves to the younger.
/// The hashes are seeded per process. Two tokens with one hash cost nothing but a push on the other connection.
struct ProvenTokens {
    private var young: Set<Int> = []
    private var old: Set<Int> = []
    private let halfCount: Int

    /// - Parameter limit: how many are remembered at most; at least half as many always are.
    init(limit: Int) { halfCount = max(1, limit / 2) }

    mutating func contains(_ fingerprint: Int) -> Bool {
        if young.contains(fingerprint) { return true }
        guard old.remove(fingerprint) != nil else { return false }
        insert(fingerprint)
        return true
    }

    mutating func insert(_ fingerprint: Int) {
        if young.count >= halfCount {
            old = young
            young = []
        }
        young.insert(fingerprint)
    }

    mutating func remove(_ fingerprint: Int) {
        young.remove(fingerprint)
        old.remove(fingerprint)
    }

    var count: Int { young.count + old.count }
}
