import TestSupport
import Testing

@testable import PushCore

@Suite("HKDF with SHA-256") struct HKDFTests {
    @Test("takes its inputs in parts as if they were one") func parts() {
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

    @Test("stops a program that asks for no bytes, or for more than 8,160") func lengths() async {
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
            prk.withUnsafeBytes { prk in info.withUnsafeBytes { PushCore.HKDF.expand(prk, info: $0, into: output) } }
        }
    }
}
