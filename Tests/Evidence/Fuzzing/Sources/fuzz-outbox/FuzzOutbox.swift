import Foundation
import FuzzSupport
import GRDB

/// An outbox with any file: it opens or not, and each call returns or throws, and ends. Leased pushes can be sent: they are
/// complete, with a token and a topic.
///
/// The input's first byte selects whether cells or bytes of a good file are changed, or the input is the file (bits 0 and
/// 1). It also selects whether the tables are declared without types and limits (bit 2), as only another program would.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzzOutbox(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    RepeatableRandom.restart()
    var input = Input(start, count)
    let choice = input.byte()
    let good = choice & 4 == 0 ? GoodFile.strict : GoodFile.loose
    switch choice & 3 {
    case 0, 1:
        GoodFile.lay(good)
        GoodFile.write { db in for _ in 0..<8 where !input.rest.isEmpty { try changeCell(in: db, &input) } }
    case 2:
        var bytes = good
        for _ in 0..<6 where !input.rest.isEmpty { bytes = Alteration.ofBytes(bytes, &input) }
        GoodFile.lay(bytes)
    default: GoodFile.lay(input.bytes)
    }
    waiting { await useAll() }
    return 0
}

/// Changes a cell, unless the table's declaration forbids it.
private func changeCell(in db: Database, _ input: inout Input) throws {
    let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
    let table = one(of: tables, input.byte())
    let hasRowID = try String.fetchAll(db, sql: "SELECT 1 FROM pragma_table_list(?) WHERE wr", arguments: [table])
        .isEmpty
    let columns = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table])
    let column = one(of: columns, input.byte())
    let rows = input.byte()
    let condition = hasRowID && rows & 0x80 == 0 ? "WHERE rowid % 4 = \(rows % 4)" : ""
    let (value, isText) = value(&input)
    // As text, a blob's bytes are stored unchanged, UTF-8 or not.
    let new = isText ? "CAST(? AS TEXT)" : "?"
    try? db.execute(sql: "UPDATE OR IGNORE \(table) SET \(column) = \(new) \(condition)", arguments: [value])
}

private func value(_ input: inout Input) -> (DatabaseValue, isText: Bool) {
    switch input.byte() % 8 {
    case 0: (.null, false)
    case 1: (Int64(bitPattern: input.word()).databaseValue, false)
    case 2: ((input.bool() ? Int64.max : .min).databaseValue, false)
    case 3: ((Int64(input.byte()) - 3).databaseValue, false)
    case 4: (Double(bitPattern: input.word()).databaseValue, false)
    case 5: (Data(input.take(Int(input.byte()))).databaseValue, false)
    case 6: (Data(input.take(Int(input.byte()))).databaseValue, true)
    default: (Data(repeating: input.byte(), count: input.number(below: 5_000)).databaseValue, true)
    }
}

/// Returns the name that a byte selects, regardless of others: an input's meaning survives the addition of a table.
private func one(of names: [String], _ byte: UInt8) -> String {
    func distance(_ name: String) -> UInt8 { name.utf8.reduce(0) { $0 &* 167 &+ $1 } &- byte }
    return names.min { distance($0) < distance($1) } ?? ""
}
