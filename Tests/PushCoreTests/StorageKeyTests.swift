import PushCore
import Testing

@Suite("A key of files") struct StorageKeyTests {
    private let plaintext = Array("a secret of some length".utf8)

    private func key(_ byte: UInt8 = 1, salt: [UInt8] = [9]) -> StorageKey {
        let bytes = WipedBytes([UInt8](repeating: byte, count: 32))
        return bytes.withBytes { StorageKey(derivedFrom: $0, salt: salt) }
    }

    private func sealed(with key: borrowing StorageKey, _ data: [UInt8] = [1, 2]) -> [UInt8] {
        plaintext.withUnsafeBytes { key.seal($0, additionalData: data) }
    }

    private func opened(_ sealed: [UInt8], with key: borrowing StorageKey, _ data: [UInt8] = [1, 2]) -> [UInt8]? {
        guard let bytes = key.open(sealed, additionalData: data) else { return nil }
        return bytes.withBytes { Array($0) }
    }

    @Test("A key opens what it sealed, with a new salt for each sealing, so that no nonce is reused")
    func salts() {
        let all = (0..<50).map { _ in sealed(with: key()) }
        for one in all {
            let text = opened(one, with: key())
            #expect(text == plaintext)
        }
        #expect(Set(all.map { Array($0[..<32]) }).count == 50)
        #expect(Set(all.map { Array($0[32...]) }).count == 50)
    }

    @Test("A key opens nothing that was altered, cut, sealed with another key or salt, or for another place")
    func refusals() {
        let sealed = sealed(with: key())
        var texts: [[UInt8]?] = []
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << (bit % 8)
            texts.append(opened(changed, with: key()))
        }
        for count in 0..<sealed.count { texts.append(opened(Array(sealed[..<count]), with: key())) }
        texts.append(opened(sealed, with: key(2)))
        texts.append(opened(sealed, with: key(salt: [])))
        for data in [[], [1], [2, 1]] as [[UInt8]] { texts.append(opened(sealed, with: key(), data)) }
        #expect(texts.allSatisfy { $0 == nil })
    }

    @Test("Sealed bytes without content do not open, although their tag may be valid") func nothing() {
        let sealed = [UInt8]().withUnsafeBytes { key().seal($0, additionalData: [1]) }
        let text = opened(sealed, with: key(), [1])
        #expect(text == nil)
    }

    @Test("A MAC is valid only for its bytes and its key, and uses a key of its own") func macs() {
        let mac = key().mac([1, 2, 3])
        // HKDF-SHA256 with both labels, and BLAKE2b, as computed by Python's hmac and hashlib.
        #expect(mac == bytes(hex: "863ac71a1770c53dbb5f71ae70a005fa7fa08b5745a5968a2c5263cedb3d3edd"))
        let holds = key().isValid(mac, of: [1, 2, 3])
        #expect(holds)
        let others = [
            key().isValid(mac, of: [1, 2]), key().isValid(Array(mac.dropLast()), of: [1, 2, 3]),
            key().isValid([], of: [1, 2, 3]), key(2).isValid(mac, of: [1, 2, 3]),
        ]
        #expect(others == [false, false, false, false])
    }
}

@Suite("Argon2id") struct Argon2idTests {
    /// Computed with OpenSSL (through Python's cryptography): one lane, 64 MiB.
    @Test(
        "Argon2id has another implementation's results",
        arguments: [
            ("correct horse battery staple", 3, "0d1a3c6523c8f06e4e0af9c515aa5b5448cfebd6838f2d52c3d8b6ef8ddc3c2e"),
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
        "A cost that makes guesses cheap, or that keeps the program busy, is rejected",
        arguments: [
            (1, 64 << 20, false), (2, 64 << 20, true), (16, 64 << 20, true), (17, 64 << 20, false),
            (3, (64 << 20) - 1, false), (3, 1 << 30, true), (3, (1 << 30) + 1, false), (0, 0, false),
        ])
    func bounds(operations: UInt64, memory: Int, isTaken: Bool) {
        #expect((Argon2id.Cost(operations: operations, memoryByteCount: memory) != nil) == isTaken)
    }

    @Test("The standard cost is RFC 9106's second recommended option") func standard() {
        #expect(Argon2id.Cost.standard == Argon2id.Cost(operations: 3, memoryByteCount: 64 << 20))
    }
}
