import Foundation
import TestSupport
import Testing

@testable import PushCore

@Suite("ML-KEM-768") struct MLKEM768Tests {
    /// libsodium's since 1.0.22, and swift-crypto's: those that are available here.
    private static let implementations = [MLKEM768.libsodium, MLKEM768.swiftCrypto].compactMap { $0 }

    @Test("ML-KEM is available on Linux with any version of libsodium")
    func available() { #expect(MLKEM768.isAvailable) }

    @Test("Wycheproof's keys and shared secrets are reproduced, and keys with an oversized coefficient are rejected")
    func wycheproof() throws {
        let cases = try VectorFile(named: "wycheproof-mlkem768.txt").sequences
        var counts: [String: Int] = [:]
        for values in cases {
            counts[values["kind"]!, default: 0] += 1
            if values["kind"] == "key" {
                #expect(bytes(hex: values["ek"]!).withUnsafeBytes { !MLKEM768.isValid($0) }, "\(values["sequence"]!)")
                continue
            }
            let (seed, ciphertext) = (bytes(hex: values["seed"]!), bytes(hex: values["c"]!))
            for implementation in Self.implementations {
                let key = seed.withUnsafeBytes { implementation.publicKey($0) }
                #expect(key.withUnsafeBytes { MLKEM768.isValid($0) })
                #expect(key.withUnsafeBytes { SHA256.hash($0) } == bytes(hex: values["ek-sha256"]!))
                #expect(decapsulate(ciphertext, seed, implementation) == bytes(hex: values["K"]!))
            }
        }
        #expect(counts == ["key": 12, "decapsulation": 24])
    }

    @Test("Any coefficient below 3329 is accepted in each place, and none above") func coefficients() {
        func key(_ place: Int, _ value: UInt16) -> [UInt8] {
            var key = [UInt8](repeating: 0, count: 1_184)
            let bit = 12 * place
            key[bit / 8] |= UInt8(truncatingIfNeeded: value << (bit % 8))
            key[bit / 8 + 1] |= UInt8(truncatingIfNeeded: value >> (8 - bit % 8))
            return key
        }
        func isValid(_ key: [UInt8]) -> Bool { key.withUnsafeBytes { MLKEM768.isValid($0) } }
        for place in 0..<768 {
            #expect(isValid(key(place, 3_328)))
            #expect(!isValid(key(place, 3_329)) && !isValid(key(place, 4_095)))
        }
        #expect(!isValid([]) && !isValid(key(0, 1).dropLast()) && !isValid(key(0, 1) + [0]))
        // The last 32 bytes may have any value.
        #expect(isValid([UInt8](repeating: 0, count: 1_152) + [UInt8](repeating: 0xff, count: 32)))
    }

    @Test("Each encapsulation has a new secret, which the key recovers, and each implementation opens the other's")
    func roundTrip() {
        var random = SeededGenerator()
        for sealing in Self.implementations {
            for opening in Self.implementations {
                let seed = random.bytes(64)
                let key = seed.withUnsafeBytes { sealing.publicKey($0) }
                let made = (0..<3).map { _ in encapsulate(key, sealing) }
                #expect(Set(made.map(\.secret)).count == 3 && Set(made.map(\.ciphertext)).count == 3)
                for (secret, ciphertext) in made { #expect(decapsulate(ciphertext, seed, opening) == secret) }
            }
        }
    }

    @Test("Altered bytes yield a different secret, the same one each time") func implicitRejection() {
        var random = SeededGenerator()
        for implementation in Self.implementations {
            let seed = random.bytes(64)
            let made = encapsulate(seed.withUnsafeBytes { implementation.publicKey($0) }, implementation)
            for bit in stride(from: 0, to: 1_088 * 8, by: 97) {
                var altered = made.ciphertext
                altered[bit / 8] ^= 1 << UInt8(bit % 8)
                let found = decapsulate(altered, seed, implementation)
                #expect(found != made.secret && found == decapsulate(altered, seed, implementation))
            }
            #expect(decapsulate(random.bytes(1_088), seed, implementation) != made.secret)
        }
    }

    private func encapsulate(
        _ key: [UInt8], _ implementation: MLKEM768.Implementation
    ) -> (secret: [UInt8], ciphertext: [UInt8]) {
        var secret: [UInt8] = []
        let ciphertext = output(1_088) { ciphertext in
            secret = output(32) { secret in
                key.withUnsafeBytes { implementation.encapsulate($0, ciphertext, secret) }
            }
        }
        return (secret, ciphertext)
    }

    private func decapsulate(
        _ ciphertext: [UInt8], _ seed: [UInt8], _ implementation: MLKEM768.Implementation
    ) -> [UInt8] {
        output(32) { secret in
            ciphertext.withUnsafeBytes { ciphertext in
                seed.withUnsafeBytes { implementation.decapsulate(ciphertext, $0, secret) }
            }
        }
    }
}
