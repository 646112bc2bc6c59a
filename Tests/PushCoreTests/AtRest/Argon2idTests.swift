import Testing

@testable import PushCore

@Suite("Argon2id")
struct Argon2idTests {
    /// Made with OpenSSL's (by way of Python's cryptography): one lane, 64 MiB.
    @Test(
        "has the answers of another implementation",
        arguments: [
            (
                "correct horse battery staple", 3,
                "0d1a3c6523c8f06e4e0af9c515aa5b5448cfebd6838f2d52c3d8b6ef8ddc3c2e"
            ),
            ("", 2, "bed4350c496024724d50592eb2cd4f61b3333ea871c495f63a4f687aed67f82c"),
        ])
    func answers(passphrase: String, operations: UInt64, key: String) throws {
        let cost = try #require(Argon2id.Cost(operations: operations, memoryByteCount: 64 << 20))
        let derived = output(32) { key in
            Array(passphrase.utf8).withUnsafeBytes {
                #expect(Argon2id.derive(from: $0, salt: Array(0..<16), cost: cost, into: key))
            }
        }
        #expect(derived == bytes(hex: key))
    }

    @Test(
        "takes no cost that makes guesses cheap, and none that keeps the program busy",
        arguments: [
            (1, 64 << 20, false), (2, 64 << 20, true), (16, 64 << 20, true), (17, 64 << 20, false),
            (3, (64 << 20) - 1, false), (3, 1 << 30, true), (3, (1 << 30) + 1, false), (0, 0, false),
        ])
    func bounds(operations: UInt64, memory: Int, isTaken: Bool) {
        #expect((Argon2id.Cost(operations: operations, memoryByteCount: memory) != nil) == isTaken)
    }

    @Test("costs by default what its second recommended option says")
    func standard() {
        #expect(Argon2id.Cost.standard == Argon2id.Cost(operations: 3, memoryByteCount: 64 << 20))
    }
}
