#if Postgres
import SealedPush
internal import PushOutbox

/// A statement's parameter in the binary format. Source: PostgreSQL 15, "Frontend/Backend Protocol", and the send and
/// receive functions of each type.
enum PostgresValue {
    case int(Int64?)
    case bool(Bool)
    case text(String?)
    case bytes([UInt8]?)
    case ints([Int64?])
    case texts([String?])
    case byteArrays([[UInt8]?])
    /// The physical locations of rows: their ctid.
    case places([Int64])

    /// The type's number in pg_type.
    var oid: UInt32 {
        switch self {
        case .int: Self.int8
        case .bool: Self.bool
        case .text: Self.text
        case .bytes: Self.bytea
        case .ints: 1_016
        case .texts: 1_009
        case .byteArrays: 1_001
        case .places: 1_010
        }
    }

    /// The encoded bytes, or `nil` for NULL.
    var encoded: [UInt8]? {
        switch self {
        case .int(let value): value.map(Self.encode)
        case .bool(let value): [value ? 1 : 0]
        case .text(let value): value.map { Array($0.utf8) }
        case .bytes(let value): value
        case .ints(let values): Self.array(values.map { $0.map(Self.encode) }, of: Self.int8)
        case .texts(let values): Self.array(values.map { $0.map { Array($0.utf8) } }, of: Self.text)
        case .byteArrays(let values): Self.array(values, of: Self.bytea)
        case .places(let values): Self.array(values.map { Array(Self.encode($0).suffix(6)) }, of: Self.tid)
        }
    }

    /// Encodes an array with one dimension, numbered from 1.
    private static func array(_ elements: [[UInt8]?], of oid: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + elements.reduce(0) { $0 + 4 + ($1?.count ?? 0) })
        bytes += encode(Int32(elements.isEmpty ? 0 : 1))
        bytes += encode(Int32(elements.contains { $0 == nil } ? 1 : 0))
        bytes += encode(oid)
        guard !elements.isEmpty else { return bytes }
        bytes += encode(Int32(elements.count))
        bytes += encode(Int32(1))
        for element in elements {
            bytes += encode(Int32(element?.count ?? -1))
            if let element { bytes += element }
        }
        return bytes
    }

    private static func encode(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let int8: UInt32 = 20
    static let text: UInt32 = 25
    /// Four bytes for the page and two for the row in it.
    static let tid: UInt32 = 27
}

/// A statement's result: rows of named columns in the binary format.
struct PostgresRows: RandomAccessCollection, Sendable {
    let names: [String: Int]
    let types: [UInt32]
    let cells: [[[UInt8]?]]
    /// The number of rows written, if the statement writes.
    let changedCount: Int

    var startIndex: Int { 0 }
    var endIndex: Int { cells.count }
    subscript(index: Int) -> Row { Row(rows: self, index: index) }

    /// A row. Throws `damaged` if a column has the wrong type or an unexpected NULL, which means tampering.
    struct Row: OutboxRow {
        fileprivate let rows: PostgresRows
        fileprivate let index: Int

        /// Returns the bytes of a column, which must have one of these types, or `nil` for NULL.
        private func cell(_ column: String, _ types: UInt32...) throws(OutboxError) -> [UInt8]? {
            guard let number = rows.names[column], types.contains(rows.types[number]) else { throw .damaged }
            return rows.cells[index][number]
        }

        func optionalInt(_ column: String) throws(OutboxError) -> Int64? {
            guard let bytes = try cell(column, 20, 21, 23, PostgresValue.tid) else { return nil }
            guard let first = bytes.first, bytes.count <= 8 else { throw .damaged }
            return bytes.dropFirst().reduce(Int64(Int8(bitPattern: first))) { $0 << 8 | Int64($1) }
        }

        func optionalTextBytes(_ column: String) throws(OutboxError) -> [UInt8]? {
            try cell(column, PostgresValue.text)
        }

        func optionalBytes(_ column: String) throws(OutboxError) -> [UInt8]? {
            try cell(column, PostgresValue.bytea)
        }

        func optionalBool(_ column: String) throws(OutboxError) -> Bool? {
            try cell(column, PostgresValue.bool).map { $0 == [1] }
        }
    }
}
#endif
