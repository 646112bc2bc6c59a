import Foundation
import SealedPush
import TestSupport
import Testing

@Suite("Records that a fuzzer found")
struct FoundRecordsTests {
    /// The texts among what was found; other inputs are the fuzzer's own to make records of.
    private var texts: [(name: String, text: String)] {
        get throws {
            try Checkout.files(in: "Tests/FuzzRegressions/fuzz-record", ending: "").compactMap { file in
                let input = try Data(contentsOf: file)
                guard input.first.map({ $0 % 7 == 0 }) == true else { return nil }
                return (file.lastPathComponent, String(decoding: input.dropFirst(), as: UTF8.self))
            }
        }
    }

    @Test("they are a record of one type at the most, and print back the same")
    func found() throws {
        #expect(try !texts.isEmpty)
        for (name, text) in try texts {
            let device = try? DeviceRecord(parsing: text)
            let set = try? SenderSet(parsing: text)
            #expect(device == nil || set == nil, "\(name)")
            #expect(device.map { "\($0)" == text } ?? true, "\(name)")
            #expect(set.map { "\($0)" == text } ?? true, "\(name)")
        }
    }

    @Test("a signature whose R is the neutral point is refused, though the equation holds")
    func neutralPoint() throws {
        let text = try #require(try texts.first { $0.name == "signature-with-neutral-r" }).text
        #expect(throws: RecordError.badSignature) { try DeviceRecord(parsing: text) }
    }
}
