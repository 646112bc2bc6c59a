/// The peer's HPACK table, as far as we have filled it. Source: RFC 7541, 2.3 and 4.
struct HeaderTable {
    private struct Entry {
        let name: String
        let value: String
        var byteCount: Int { HeaderTable.byteCount(name, value) }
    }

    /// The newest comes last.
    private var entries: [Entry] = []
    private var byteCount = 0
    private(set) var limit = HTTP2Size.headerTable
    /// Counts up with everything that moves entries: indices hold as long as it stands still.
    private(set) var generation = 0

    /// The index of the whole field.
    func index(of name: String, _ value: String) -> Int? {
        entries.lastIndex { $0.value == value && $0.name == name }.map(index(at:))
    }

    /// The index of a field of this name.
    func index(ofName name: String) -> Int? { entries.lastIndex { $0.name == name }.map(index(at:)) }

    private func index(at position: Int) -> Int { Self.staticCount + entries.count - position }

    func canHold(_ name: String, _ value: String) -> Bool { Self.byteCount(name, value) <= limit }

    mutating func insert(_ name: String, _ value: String) {
        entries.append(Entry(name: name, value: value))
        byteCount += Self.byteCount(name, value)
        evict()
    }

    mutating func resize(to newLimit: Int) {
        limit = newLimit
        evict()
    }

    private mutating func evict() {
        generation += 1
        while byteCount > limit, let oldest = entries.first {
            byteCount -= oldest.byteCount
            entries.removeFirst()
        }
    }

    private static func byteCount(_ name: String, _ value: String) -> Int { name.utf8.count + value.utf8.count + 32 }

    /// RFC 7541, appendix A.
    private static let staticCount = 61
}
