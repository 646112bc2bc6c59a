import FuzzSupport

/// An outbox whose file holds anything: it opens or not, and each call answers or throws, and ends. What it leases can be
/// sent: whole, to a token, for a topic.
///
/// The input's first byte: whether cells of a good file are changed, bytes of it, or the input is the file (bits 0 and 1),
/// and whether the tables are declared without types and limits (bit 2), as only another program would.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOutbox(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    RepeatableRandom.restart()
    var input = Input(start, count)
    let choice = input.byte()
    let good = choice & 4 == 0 ? GoodFile.strict : GoodFile.loose
    switch choice & 3 {
    case 0, 1:
        GoodFile.lay(good)
        var database = RawDatabase(GoodFile.path)
        let tables = database.tables()
        for _ in 0..<8 where !input.rest.isEmpty { changeCell(in: &database, tables, &input) }
        database.close()
    case 2:
        var bytes = good
        for _ in 0..<6 where !input.rest.isEmpty { bytes = Alteration.ofBytes(bytes, &input) }
        GoodFile.lay(bytes)
    default: GoodFile.lay(input.bytes)
    }
    waiting { await useAll() }
    return 0
}

private func changeCell(in database: inout RawDatabase, _ tables: [RawDatabase.Table], _ input: inout Input) {
    let table = one(of: tables.map(\.name), input.byte())
    let (_, columns, hasRowID) = tables.first { $0.name == table } ?? (table, [], false)
    let column = one(of: columns, input.byte())
    let rows = input.byte()
    let condition = hasRowID && rows & 0x80 == 0 ? "WHERE rowid % 4 = \(rows % 4)" : ""
    database.run("UPDATE OR IGNORE \(table) SET \(column) = ?1 \(condition)", value(&input))
}

private func value(_ input: inout Input) -> RawDatabase.Value {
    switch input.byte() % 8 {
    case 0: .null
    case 1: .integer(Int64(bitPattern: input.word()))
    case 2: .integer(input.bool() ? .max : .min)
    case 3: .integer(Int64(input.byte()) - 3)
    case 4: .real(Double(bitPattern: input.word()))
    case 5: .blob(input.take(Int(input.byte())))
    case 6: .text(input.take(Int(input.byte())))
    default: .text([UInt8](repeating: input.byte(), count: input.number(below: 5_000)))
    }
}

/// The name that a byte stands for, whatever others there are: an input means the same when another table is added.
private func one(of names: [String], _ byte: UInt8) -> String {
    func distance(_ name: String) -> UInt8 { name.utf8.reduce(0) { $0 &* 167 &+ $1 } &- byte }
    return names.min { distance($0) < distance($1) } ?? ""
}
