import Foundation
import SealedPush
import TestSupport
import Testing
import _PushBase

@testable import PushKeyring

@Suite("The audit log")
struct AuditLogTests {
    private let folder: TemporaryFolder
    private let log: URL

    init() throws {
        folder = try TemporaryFolder()
        log = folder.appending("audit.jsonl")
    }

    private func entries(_ count: Int) -> [AuditEntry] {
        (0..<count).map { index in
            AuditEntry(
                time: KeptKeys.day(Int64(index)), event: .generated, name: KeyName(parsing: "key-\(index)"),
                key: "0011223\(index % 10)", command: "test")
        }
    }

    private func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: log) }

    @Test("follows its chain from line to line, in one piece and in several")
    func chain() throws {
        let (bytes, head) = AuditLog.lines(entries(20), after: .start)
        try write(bytes)
        #expect(head.count == 20)
        #expect(try AuditLog.verify(log) == head)
        var piece = AuditHead.start
        var pieces: [UInt8] = []
        for entry in entries(20) {
            let (line, end) = AuditLog.lines([entry], after: piece)
            pieces += line
            piece = end
        }
        #expect(pieces == bytes && piece == head)
        #expect(AuditHead(parsing: head.text(under: nil)) == head)
        try write([])
        #expect(try AuditLog.verify(log) == .start)
    }

    @Test("shows every byte that is changed, and every line that is taken out, put in, doubled or moved")
    func corruption() throws {
        let (bytes, head) = AuditLog.lines(entries(4), after: .start)
        let walk = bytes.indices.flatMap { index in [1, 0x20, 0x80].map { (index: index, flip: $0 as UInt8) } }
        var random = SeededGenerator()
        for (index, flip) in Thoroughness.sample(500, of: walk, using: &random) {
            var bad = bytes
            bad[index] ^= flip
            try write(bad)
            #expect(try AuditLog.verify(log) != head, "byte \(index)")
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        for index in lines.indices {
            var less = lines
            less.remove(at: index)
            var more = lines
            more.insert(lines[index], at: index)
            var moved = lines
            moved.swapAt(index, (index + 1) % lines.count)
            var foreign = lines
            foreign.insert(AuditLog.lines(entries(1), after: head).bytes.dropLast(), at: index)
            for bad in [less, more, moved, foreign] {
                try write(Array(bad.joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")])
                #expect(try AuditLog.verify(log) != head)
            }
        }
        try write(bytes)
        #expect(try AuditLog.verify(log) == head)
    }

    @Test("that is cut ends elsewhere at a line's end, and is broken within a line")
    func cuts() throws {
        let (bytes, head) = AuditLog.lines(entries(3), after: .start)
        for count in 0..<bytes.count {
            try write(Array(bytes[..<count]))
            let end = try AuditLog.verify(log)
            let isWhole = count == 0 || bytes[count - 1] == UInt8(ascii: "\n")
            #expect((end != nil) == isWhole && end != head, "\(count) bytes")
        }
    }

    @Test("with a line that never ends is broken, and costs no memory")
    func longLine() throws {
        try write([UInt8](repeating: 65, count: 3 << 20))
        #expect(try AuditLog.verify(log) == nil)
    }

    @Test("gets what is missing of a change, wherever an earlier attempt was cut off")
    func appending() throws {
        let (first, head) = AuditLog.lines(entries(2), after: .start)
        let (second, end) = AuditLog.lines(entries(3), after: head)
        let staged = folder.appending("staged.jsonl")
        for count in 0...second.count {
            try write(first + second[..<count])
            try Data(second).write(to: staged)
            try AuditLog.append(staged, to: log)
            #expect(try Data(contentsOf: log) == Data(first + second), "\(count) bytes")
            #expect(!FileManager.default.fileExists(atPath: staged.path))
        }
        #expect(try AuditLog.verify(log) == end)
        // Done already: nothing staged, nothing happens.
        try AuditLog.append(staged, to: log)
        #expect(try AuditLog.verify(log) == end)
        try FileManager.default.removeItem(at: log)
        try Data(first).write(to: staged)
        try AuditLog.append(staged, to: log)
        #expect(try AuditLog.verify(log) == head)
    }

    @Test("is repaired by cutting off a half line, and by nothing else")
    func repair() throws {
        func repaired(_ text: String, limit: Int = 16) throws -> (last: String, text: String) {
            try write(Array(text.utf8))
            let last = try DurableFiles.repairedLastLine(of: log, limit: limit)
            return (String(decoding: last, as: UTF8.self), try Checkout.text(log))
        }
        #expect(try repaired("") == ("", ""))
        #expect(try repaired("one") == ("", ""))
        #expect(try repaired("one\n") == ("one", "one\n"))
        #expect(try repaired("one\ntwo\n") == ("two", "one\ntwo\n"))
        #expect(try repaired("one\ntwo\nth") == ("two", "one\ntwo\n"))
        #expect(try repaired("\n") == ("", "\n"))
        #expect(try repaired("one\n\n") == ("", "one\n\n"))
        // Far from the start of the file.
        let many = String(repeating: "0123456789\n", count: 500)
        #expect(try repaired(many + "last\nhal") == ("last", many + "last\n"))
        // One that is no line of ours is left alone.
        let long = "one\n" + String(repeating: "x", count: 100)
        #expect(try repaired(long) == ("", long))
        try FileManager.default.removeItem(at: log)
        #expect(try DurableFiles.repairedLastLine(of: log, limit: 16) == [])
        #expect(throws: DurableFiles.Failure.self) {
            try DurableFiles.repairedLastLine(of: folder.url, limit: 16)
        }
    }

    @Test("of a keyring tells each change by name, event and command, and no secret")
    func keyring() throws {
        let kept = try KeptKeys()
        try kept.addEverything()
        let text = try Checkout.text(kept.file("audit.jsonl"))
        for event in ["generated", "rotated", "confirmed", "erased", "revoked", "trusted", "signed", "challenged"] {
            #expect(text.contains("\"event\":\"\(event)\""), "\(event)")
        }
        #expect(text.contains("\"command\":\"test\"") && !text.contains("SECRET-KEY-1"))
        let head = try #require(AuditHead(parsing: Array(Data(contentsOf: kept.file("audit-head.txt")))))
        #expect(try AuditLog.verify(kept.file("audit.jsonl")) == head)
    }
}
