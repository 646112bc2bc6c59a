import PushCrypto
import TestSupport
import Testing

@testable import SealedPush

@Suite("A receipt's bytes")
struct ReceiptBodyTests {
    private static let key: [UInt8] = Array(1...32)
    private static let body = ReceiptBody(
        id: ReceiptID(Array(16..<32)), number: Array(32..<48), created: Timestamp(clamping: 1_760_000_003),
        elapsedMilliseconds: 412, counts: [0, 3, 0, 0, 0, 0, 65_535] + [UInt16](repeating: 0, count: 17) + [9])

    private func parse(_ bytes: [UInt8], key: [UInt8] = Self.key) throws -> ReceiptBody {
        try key.withUnsafeBytes { try ReceiptBody(parsing: bytes, key: $0) }
    }

    @Test("are 128, and read as they were written")
    func roundTrip() throws {
        let bytes = Self.body.bytes(key: Self.key)
        #expect(bytes.count == 128)
        #expect(try parse(bytes) == Self.body)
        #expect(try ReceiptBody.claimedID(of: bytes) == Self.body.id)
    }

    @Test("are refused at every other length")
    func lengths() {
        let bytes = Self.body.bytes(key: Self.key)
        for count in Array(0..<128) + [129, 256, 4_096] {
            let other = count < 128 ? Array(bytes.prefix(count)) : bytes + [UInt8](repeating: 0, count: count - 128)
            #expect(throws: ReceiptError.wrongSize) { try parse(other) }
        }
    }

    @Test("are refused with any bit flipped, and under any other key")
    func flipped() {
        let bytes = Self.body.bytes(key: Self.key)
        for bit in 0..<(128 * 8) {
            var other = bytes
            other[bit / 8] ^= 1 << (bit % 8)
            let expected: ReceiptError = bit < 8 ? .unknownVersion : .rejected
            #expect(throws: expected) { try parse(other) }
        }
        for bit in 0..<256 {
            var key = Self.key
            key[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: ReceiptError.rejected) { try parse(bytes, key: key) }
        }
    }

    @Test("are malformed where a device of good faith has written nonsense")
    func nonsense() {
        // An outcome of another kind; a time beyond the year 9999, and one below zero.
        for (place, value) in [(41, UInt8(0)), (41, 2), (33, 0x7f), (33, 0xff)] {
            var body = Array(Self.body.bytes(key: Self.key).prefix(96))
            body[place] = value
            let mac = Self.key.withUnsafeBytes { ReceiptBody.mac(of: body, key: $0) }
            #expect(throws: ReceiptError.malformed) { try parse(body + mac) }
        }
    }

    @Test("are read without a trap, whatever they are")
    func noise() {
        var random = SeededGenerator()
        for _ in 0..<2_000 {
            var body = (0..<96).map { _ in UInt8.random(in: 0...255, using: &random) }
            body[0] = 1
            let mac = Self.key.withUnsafeBytes { ReceiptBody.mac(of: body, key: $0) }
            guard let read = try? parse(body + mac) else { continue }
            #expect(read.bytes(key: Self.key) == body + mac)
        }
    }

    @Test("have a number that follows from message and key alone")
    func number() throws {
        let message = try #require(MessageID(parsing: "5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09"))
        let number = ReceiptBody.number(of: message, key: Self.key)
        #expect(number == ReceiptBody.number(of: message, key: Self.key))
        #expect(number != ReceiptBody.number(of: .random(), key: Self.key))
        #expect(number != ReceiptBody.number(of: message, key: Self.key.reversed()))
    }

    @Test("count each reason at a place of its own")
    func reasons() {
        let numbers = OpenError.allCases.map { $0.facts.number }
        #expect(numbers.sorted() == Array(1...16))
        for reason in OpenError.allCases { #expect(OpenError(receiptNumber: reason.facts.number) == reason) }
        for number: UInt8 in [0, 17, 25, 255] { #expect(OpenError(receiptNumber: number) == nil) }
    }
}
