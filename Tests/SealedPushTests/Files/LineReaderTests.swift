import Foundation
import PushCore
import SealedPush
import TestSupport
import Testing

@Suite("Reading files") struct LineReaderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func lines(_ text: String, limit: Int = 1_000) throws -> [String] {
        var reader = try LineReader(URL(filePath: try folder.write(text, to: "lines")), limit: limit)
        var lines: [String] = []
        while let line = try reader.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }

    @Test("A file is read line by line, with and without a last line end, and a line that is too long is cut")
    func lines() throws {
        #expect(try lines("") == [])
        #expect(try lines("\n") == [""])
        #expect(try lines("a\n\nb") == ["a", "", "b"])
        #expect(try lines("a\nb\n") == ["a", "b"])
        #expect(try lines("abcdef\nab\nabc\nabcd", limit: 3) == ["abcd", "ab", "abc", "abcd"])
        // Across the pieces in which it is read.
        let long = (0..<40_000).map { "line \($0)" }
        #expect(try lines(long.joined(separator: "\n")) == long)
        #expect(try lines(String(repeating: "x", count: 200_000) + "\ny", limit: 10) == ["xxxxxxxxxxx", "y"])
    }

    @Test("Reading stops at a total that is too large, and pipes are read only on request") func limits() throws {
        let file = URL(filePath: try folder.write(String(repeating: "x", count: 100_000), to: "file"))
        var reader = try LineReader(file, limit: 10, totalLimit: 99_999)
        #expect(throws: DurableFiles.Failure(code: 27)) { try reader.next() }
        #expect(throws: DurableFiles.Failure(code: 22)) { _ = try LineReader(folder.url, limit: 10) }
    }

    @Test("A file is read up to a limit, whatever its length") func whole() throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let file = folder.appending("bytes")
        try Data(bytes).write(to: file)
        for limit in [0, 1, 16_383, 16_384, 16_385, 65_536, 299_999, 300_000, 300_001, 1 << 40] {
            #expect(try DurableFiles.read(file, limit: limit) == Array(bytes.prefix(limit)), "\(limit)")
        }
    }

    @Test("A file replaces another one with its own mode, and leaves no temporary file behind") func replaced() throws {
        let file = URL(filePath: try folder.write("old", to: "file"))
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file.path)
        try DurableFiles.replace(file, with: Array("new".utf8), mode: 0o600)
        #expect(try Checkout.text(file) == "new")
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
        #expect(throws: DurableFiles.Failure.self) {
            try DurableFiles.replace(folder.appending("no/file"), with: [], mode: 0o600)
        }
    }
}
