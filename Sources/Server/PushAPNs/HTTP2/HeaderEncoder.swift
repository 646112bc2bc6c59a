internal import NIOCore
internal import PushCore
internal import PushSender
internal import SealedPush

/// Writes the header blocks of one connection's pushes, in HPACK. Repeated values are added to the peer's table once, and
/// then take a byte or two. Values that change with each push are written as literals. Once all of a push's repeated values
/// are in the table, their bytes are kept and copied. Huffman codes would save 60 bytes, but take longer than sending them.
/// Sources: RFC 7541; Apple, "Sending notification requests to APNs".
struct HeaderEncoder {
    private let authority: String
    private var table = HeaderTable()
    /// New table sizes to announce to the peer: the smallest one, then the last.
    private var sizeUpdates: (smallest: Int, last: Int)?
    private var templates: [HeaderTemplate] = []
    private var templatesGeneration = 0

    init(endpoint: APNsEndpoint) {
        let hostAndPort = endpoint.description
        authority = endpoint.port == 443 ? String(hostAndPort.dropLast(":443".count)) : hostAndPort
    }

    mutating func limitTable(to byteCount: Int) {
        let size = min(byteCount, HTTP2Size.headerTable)
        if sizeUpdates == nil, size == table.limit { return }
        sizeUpdates = (min(sizeUpdates?.smallest ?? size, size), size)
    }

    mutating func write(_ request: PushRequest, _ token: ProviderToken, to bytes: inout ByteBuffer) {
        if sizeUpdates != nil { writeSizeUpdates(to: &bytes) }
        bytes.writeInteger(0x00 | HPACKName.path)
        Self.write(length: Self.pathPrefix.utf8CodeUnitCount + 2 * request.address.bytes.count, to: &bytes)
        bytes.writeStaticString(Self.pathPrefix)
        bytes.writeString(Hex.encode(request.address.bytes))

        if templatesGeneration == table.generation, let index = templates.firstIndex(where: { $0.fits(request, token) })
        {
            bytes.writeBytes(templates[index].repeated)
            Self.write(templates[index].apnsID, request.apnsID, to: &bytes)
            Self.write(templates[index].collapseID, request.collapseID, to: &bytes)
            if let expiration = request.expiration {
                Self.write(templates[index].expiration, String(expiration.secondsSince1970), to: &bytes)
            }
        } else {
            writeWithoutTemplate(request, token, to: &bytes)
        }
    }

    /// The bytes that pushes of the same kind have in common.
    private struct HeaderTemplate {
        let topic: Topic
        let priority: PushPriority
        let isBackground: Bool
        let tokenGeneration: Int
        let repeated: [UInt8]
        /// The encoded names of the other fields.
        let apnsID: [UInt8]
        let collapseID: [UInt8]
        let expiration: [UInt8]

        func fits(_ request: PushRequest, _ token: ProviderToken) -> Bool {
            tokenGeneration == token.generation && priority == request.priority && topic == request.topic
                && isBackground == request.isBackground
        }
    }

    private mutating func writeWithoutTemplate(
        _ request: PushRequest, _ token: ProviderToken, to bytes: inout ByteBuffer
    ) {
        let generation = table.generation
        let start = bytes.writerIndex
        bytes.writeInteger(HPACKName.methodPOST)
        bytes.writeInteger(HPACKName.schemeHTTPS)
        writeRepeated(":authority", authority, staticName: HPACKName.authority, to: &bytes)
        writeRepeated("authorization", token.authorization, staticName: HPACKName.authorization, to: &bytes)
        writeRepeated("apns-topic", request.topic.description, to: &bytes)
        writeRepeated("apns-push-type", PushType(isBackground: request.isBackground).rawValue, to: &bytes)
        writeRepeated("apns-priority", String(request.priority.rawValue), to: &bytes)
        let repeated = bytes.getBytes(at: start, length: bytes.writerIndex - start)
        let apnsID = writeOnce("apns-id", request.apnsID, to: &bytes)
        let collapseID = writeOnce("apns-collapse-id", request.collapseID, to: &bytes)
        let expiration = request.expiration.map {
            writeOnce("apns-expiration", String($0.secondsSince1970), to: &bytes)
        }

        // The bytes mean the same next time only if nothing was inserted.
        guard generation == table.generation, let repeated else { return }
        if templatesGeneration != generation || templates.count >= Self.maximumTemplateCount { templates = [] }
        templatesGeneration = generation
        templates.append(
            HeaderTemplate(
                topic: request.topic, priority: request.priority, isBackground: request.isBackground,
                tokenGeneration: token.generation, repeated: repeated, apnsID: apnsID, collapseID: collapseID,
                expiration: expiration ?? name("apns-expiration")))
    }

    /// Writes a field that the next push will repeat.
    private mutating func writeRepeated(
        _ name: String, _ value: String, staticName: UInt8? = nil, to bytes: inout ByteBuffer
    ) {
        if let index = table.index(of: name, value) {
            Self.write(index, prefix: 7, 0x80, to: &bytes)
            return
        }
        let mayInsert = table.canHold(name, value)
        if let index = staticName.map({ Int($0) }) ?? table.index(ofName: name) {
            Self.write(index, prefix: mayInsert ? 6 : 4, mayInsert ? 0x40 : 0, to: &bytes)
        } else {
            bytes.writeInteger(UInt8(mayInsert ? 0x40 : 0))
            Self.write(name, to: &bytes)
        }
        Self.write(value, to: &bytes)
        if mayInsert { table.insert(name, value) }
    }

    /// Writes a field with a new value for each push. Only the first is inserted, for its name. Returns the name's bytes.
    private mutating func writeOnce(_ name: String, _ value: String, to bytes: inout ByteBuffer) -> [UInt8] {
        if table.index(ofName: name) == nil, table.canHold(name, value) {
            writeRepeated(name, value, to: &bytes)
            return []
        }
        let start = self.name(name)
        Self.write(start, value, to: &bytes)
        return start
    }

    /// Returns the start of a literal field that isn't inserted into the table.
    private func name(_ name: String) -> [UInt8] {
        var bytes = ByteBuffer()
        if let index = table.index(ofName: name) {
            Self.write(index, prefix: 4, 0, to: &bytes)
        } else {
            bytes.writeInteger(UInt8(0))
            Self.write(name, to: &bytes)
        }
        return Array(bytes.readableBytesView)
    }

    private mutating func writeSizeUpdates(to bytes: inout ByteBuffer) {
        guard let updates = sizeUpdates.take() else { return }
        for size in updates.smallest < updates.last ? [updates.smallest, updates.last] : [updates.last] {
            Self.write(size, prefix: 5, 0x20, to: &bytes)
            table.resize(to: size)
        }
    }

    private static func write(_ name: [UInt8], _ value: String, to bytes: inout ByteBuffer) {
        bytes.writeBytes(name)
        write(value, to: &bytes)
    }

    /// Writes a string without Huffman coding. Source: RFC 7541, 5.2.
    private static func write(_ text: String, to bytes: inout ByteBuffer) {
        write(length: text.utf8.count, to: &bytes)
        bytes.writeString(text)
    }

    private static func write(length: Int, to bytes: inout ByteBuffer) { write(length, prefix: 7, 0, to: &bytes) }

    /// Writes a number into the low `prefix` bits of the first byte, and further bytes if necessary. Source: RFC 7541, 5.1.
    private static func write(_ number: Int, prefix: Int, _ highBits: UInt8, to bytes: inout ByteBuffer) {
        let limit = 1 << prefix - 1
        guard number >= limit else {
            bytes.writeInteger(highBits | UInt8(number))
            return
        }
        bytes.writeInteger(highBits | UInt8(limit))
        var rest = number - limit
        while rest >= 0x80 {
            bytes.writeInteger(UInt8(rest & 0x7f | 0x80))
            rest >>= 7
        }
        bytes.writeInteger(UInt8(rest))
    }

    private static let pathPrefix: StaticString = "/3/device/"

    private static let maximumTemplateCount = 8
}

/// A push's fields in HPACK's static table. Source: RFC 7541, appendix A.
private enum HPACKName {
    static let authority: UInt8 = 1
    static let path: UInt8 = 4
    static let authorization: UInt8 = 23
    static let methodPOST: UInt8 = 0x83
    static let schemeHTTPS: UInt8 = 0x87
}

/// The peer's HPACK table, as we have filled it. Source: RFC 7541, 2.3 and 4.
struct HeaderTable {
    private struct Entry {
        let name: String
        let value: String
        var byteCount: Int { HeaderTable.byteCount(name, value) }
    }

    /// The entries, newest last.
    private var entries: [Entry] = []
    private var byteCount = 0
    private(set) var limit = HTTP2Size.headerTable
    /// Increases whenever entries move. Indices stay valid while it doesn't change.
    private(set) var generation = 0

    func index(of name: String, _ value: String) -> Int? {
        entries.lastIndex { $0.value == value && $0.name == name }.map(index(at:))
    }

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
