import Crypto
import Foundation
import TestSupport
import Testing

@testable import PushCore

@Suite("HKDF with SHA-256")
struct HKDFTests {
    /// One of RFC 5869's cases, appendix A.1 to A.3.
    struct Vector: Sendable {
        let ikm: String
        let salt: String
        let info: String
        let prk: String
        let okm: String
    }

    @Test(
        "gives RFC 5869's answers, the pseudorandom key too",
        arguments: [
            Vector(
                ikm: String(repeating: "0b", count: 22), salt: "000102030405060708090a0b0c",
                info: "f0f1f2f3f4f5f6f7f8f9",
                prk: "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
                okm: """
                    3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865
                    """),
            Vector(
                ikm: hexRange(0x00...0x4f), salt: hexRange(0x60...0xaf), info: hexRange(0xb0...0xff),
                prk: "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
                okm: """
                    b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c
                    59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71
                    cc30c58179ec3e87c14c01d5c1f3434f1d87
                    """),
            Vector(
                ikm: String(repeating: "0b", count: 22), salt: "", info: "",
                prk: "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
                okm: """
                    8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8
                    """),
        ])
    func rfc5869(vector: Vector) {
        let prk = extract(salt: bytes(hex: vector.salt), bytes(hex: vector.ikm))
        #expect(prk == bytes(hex: vector.prk))
        let okm = bytes(hex: vector.okm)
        #expect(expand(prk, info: bytes(hex: vector.info), okm.count) == okm)
    }

    private static func hexRange(_ range: ClosedRange<Int>) -> String {
        range.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    }

    @Test("takes its inputs in parts as if they were one")
    func parts() {
        let whole = Array("abcdefgh".utf8)
        let parts = whole.withUnsafeBytes { whole in
            let front = UnsafeRawBufferPointer(rebasing: whole[..<3])
            let back = UnsafeRawBufferPointer(rebasing: whole[3...])
            let key = output(32) { PushCore.HKDF.extract(salt: .empty, inputKeyMaterial: front, back, into: $0) }
            let expanded = key.withUnsafeBytes { key in
                output(50) { PushCore.HKDF.expand(key, info: front, back, into: $0) }
            }
            return (key: key, expanded: expanded)
        }
        #expect(parts.key == extract(salt: [], whole))
        #expect(parts.expanded == expand(extract(salt: [], whole), info: whole, 50))
    }

    @Test("stops a program that asks for no bytes, or for more than 8,160")
    func lengths() async {
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = output(0) { PushCore.HKDF.expand(.empty, info: .empty, into: $0) }
        }
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = output(8_161) { PushCore.HKDF.expand(.empty, info: .empty, into: $0) }
        }
    }

    private func extract(salt: [UInt8], _ ikm: [UInt8]) -> [UInt8] {
        output(32) { output in
            salt.withUnsafeBytes { salt in
                ikm.withUnsafeBytes { PushCore.HKDF.extract(salt: salt, inputKeyMaterial: $0, into: output) }
            }
        }
    }

    private func expand(_ prk: [UInt8], info: [UInt8], _ count: Int) -> [UInt8] {
        output(count) { output in
            prk.withUnsafeBytes { prk in
                info.withUnsafeBytes { PushCore.HKDF.expand(prk, info: $0, into: output) }
            }
        }
    }
}
