import Foundation
import SealedPush
import TestSupport
import Testing

@Suite("A record that a fuzzer found")
struct FoundRecordsTests {
    @Test("is refused if the signature's R is the neutral point, though the equation holds")
    func neutralPoint() throws {
        let file = Checkout.folder.appending(path: "Tests/FuzzRegressions/fuzz-record/signature-with-neutral-r")
        // The first byte is the fuzzer's own.
        let text = String(decoding: try Data(contentsOf: file).dropFirst(), as: UTF8.self)
        #expect(throws: RecordError.badSignature) { try DeviceRecord(parsing: text) }
    }
}
