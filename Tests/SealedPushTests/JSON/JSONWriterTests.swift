import Foundation
import TestSupport
import Testing

@testable import SealedPush

@Suite("JSON that is written") struct JSONWriterTests {
    @Test("Only characters for which JSON requires it are escaped") func escapes() {
        #expect(text(.string("a\"b\\c/d")) == #""a\"b\\c/d""#)
        #expect(text(.string("\u{8}\t\n\u{c}\r")) == #""\b\t\n\f\r""#)
        #expect(text(.string("\0\u{1}\u{1f}\u{7f}")) == "\"\\u0000\\u0001\\u001f\u{7f}\"")
        #expect(text(.string("ä €😀\u{2028}")) == "\"ä €😀\u{2028}\"")
    }

    @Test("Foundation reads back strings with every control character and many others") func strings() throws {
        var random = SeededGenerator()
        var strings = (0...0x2ff).map { String(Unicode.Scalar($0)!) }
        for _ in 0..<200 {
            let scalars = (0..<20).map { _ in Unicode.Scalar(UInt32.random(in: 0...0x10ffff, using: &random)) ?? "\\" }
            strings.append(String(String.UnicodeScalarView(scalars)))
        }
        let read = try #require(try foundation(.array(strings.map(JSONValue.string))) as? [String])
        #expect(read.count == strings.count)
        for (ours, theirs) in zip(strings, read) { #expect(Array(ours.utf8) == Array(theirs.utf8)) }
    }

    @Test("Each character is escaped in each place of a text, next to any other") func places() throws {
        for byte in 0...127 as ClosedRange<UInt8> {
            for place in 0...17 {
                for filler in ["a", "!", "\u{7f}", "\"", "é"] {
                    let parts = [String](repeating: filler, count: place) + [String(Unicode.Scalar(byte)), filler]
                    let written = parts.map { text(.string($0)).dropFirst().dropLast() }.joined()
                    try #require(text(.string(parts.joined())) == "\"\(written)\"")
                }
            }
        }
    }

    @Test("A character takes as many bytes as predicted") func escapedByteCount() {
        for byte in 0...127 as ClosedRange<UInt8> {
            let written = text(.string(String(Unicode.Scalar(byte)))).utf8.count - 2
            #expect(JSONCharacters.escapedByteCount(of: byte) == written)
        }
    }

    @Test("Integers are written exactly, to both ends of Int64") func integers() throws {
        for value in [0, 1, -1, 1 << 53, (1 << 53) + 1, Int64.max, .min] {
            #expect(text(.integer(value)) == String(value))
            let read = try foundation(.array([.integer(value)])) as? [NSNumber]
            #expect(read?.first?.int64Value == value)
        }
    }

    @Test("Finite doubles come back bit for bit") func doubles() throws {
        var random = SeededGenerator()
        var doubles: [Double] = [
            0, 1, 0.1, -0.5, 1e15, 1e16, 1e17, 1e300, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
            .leastNormalMagnitude,
        ]
        while doubles.count < 500 {
            let value = Double(bitPattern: random.next())
            if value.isFinite { doubles.append(value) }
        }
        for value in doubles {
            let written = text(.number(value))
            #expect(Double(written) == value)
            #expect(JSONReader.object(Array("{\"a\":\(written)}".utf8), maximumByteCount: 100)?["a"]?.double == value)
            // JSONSerialization uses a decimal number, and loses the last digits on Linux.
            let theirs = (try foundation(.array([.number(value)])) as? [NSNumber])?.first?.doubleValue
            let difference = try abs(#require(theirs) - value)
            #expect(difference <= abs(value) * 1e-13)
        }
        #expect(text(.array([.number(.nan), .number(.infinity)])) == "[null,null]")
    }

    /// Whole numbers are read as integers, regardless of their spelling.
    @Test("Whole doubles come back as the same integers") func wholeDoubles() throws {
        var random = SeededGenerator()
        var doubles: [Double] = [
            -2_848_394_305_499_268_608, 0x1p53, 0x1p62, -0x1p63, 0x1p63, 1e16, 123_456_789_012_345_680,
        ]
        for _ in 0..<500 { doubles.append(Double(Int64(truncatingIfNeeded: random.next() >> (random.next() % 12)))) }
        for value in doubles {
            let written = text(.number(value))
            // A reader of exact decimals takes 2.8483943054992686e+18 for another integer than the double.
            if let integer = Int64(exactly: value), value.magnitude >= 0x1p53 { #expect(written == String(integer)) }
            let read = JSONReader.object(Array("{\"a\":\(written)}".utf8), maximumByteCount: 100)?["a"]
            #expect(read == (Int64(exactly: value).map(JSONValue.integer) ?? .number(value)), "\(value)")
        }
    }

    @Test("Objects are compact, with their members sorted by name") func objects() {
        let value: JSONValue = ["b": [1, true, .null], "a": ["y": 1.5, "x": "z"], "é": [:], "": []]
        #expect(text(value) == #"{"":[],"a":{"x":"z","y":1.5},"b":[1,true,null],"é":{}}"#)
    }

    @Test("Members without a value, and their commas, are omitted") func members() {
        var writer = JSONWriter()
        writer.object { object in
            object.string("a", nil)
            object.integer("b", 1)
            object.value("c", nil)
            object.object("d") { $0.string("e", "f") }
        }
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"b":1,"d":{"e":"f"}}"#)
    }

    private func text(_ value: JSONValue) -> String { String(decoding: value.bytes, as: UTF8.self) }

    private func foundation(_ value: JSONValue) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(text(value).utf8), options: .fragmentsAllowed)
    }
}
