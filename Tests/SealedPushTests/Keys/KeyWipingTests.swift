@testable import PushCore

#if os(Linux)
import TestSupport
import Testing

@testable import SealedPush

@Suite("After a key that was read from text has gone, the process's memory", .serialized) struct KeyWipingTests {
    /// Every C function is called once before: the first call goes through the dynamic linker, which saves the registers
    /// on the stack, including any part of a secret in them.
    init() throws {
        try DevicePrivateKey(parsing: DevicePrivateKey().secretText).withSecretText { #expect($0.count == 75) }
        try SenderPrivateKey(parsing: Array(SenderPrivateKey().secretText.utf8)).withSecretText {
            #expect($0.count == 82)
        }
        try EnrollmentPrivateKey(parsing: EnrollmentPrivateKey().secretText).withSecretText {
            #expect($0.count == 86)
        }
    }

    @Test("Memory has one copy of a key that was read from text while it lives, and none afterward")
    func keys() throws {
        try expectWiped(DevicePrivateKey.self, "push-secret-key-") { #expect($0.recipient.description.count == 63) }
        try expectWiped(SenderPrivateKey.self, "push-sender-secret-key-") { _ in }
        try expectWiped(EnrollmentPrivateKey.self, "push-enrollment-secret-key-") {
            #expect($0.sign([1]).count == 64)
        }
    }

    private func expectWiped<Role>(
        _: PrivateKey<Role>.Type, _ prefix: String, use: (PrivateKey<Role>) -> Void
    ) throws {
        let scan = MemoryScan()
        let text = secretText(of: scan, prefix: prefix)
        do {
            let key = try text.withBytes { try PrivateKey<Role>(parsing: $0) }
            let alive = scan.copyCount()
            #expect(alive == 1)
            key.withSecretText { #expect($0.count == text.count) }
            use(key)
            let afterUse = scan.copyCount()
            #expect(afterUse == 1)
        }
        let left = scan.copyCount()
        #expect(left == 0, "\(prefix)")
    }

    @Test("Memory has no copy of the text, if it was passed as bytes that the caller wipes") func text() throws {
        let key = MemoryScan()
        let encoded = secretText(of: key, prefix: "push-secret-key-")
        // A piece of the text from the middle of the key.
        let scan = MemoryScan()
        encoded.withBytes { scan.secret.copyBytes(from: $0[30..<62]) }
        var bytes = encoded.withBytes { Array($0) }
        let before = scan.copyCount()
        #expect(before == 2)
        do {
            let identity = try DevicePrivateKey(parsing: bytes)
            let alive = scan.copyCount()
            #expect(alive == 2)
            identity.withSecretText { _ in }
        }
        wipe(&bytes)
        let left = scan.copyCount()
        #expect(left == 1)
        #expect(encoded.count == 75)
    }

    @Test("Memory has no copy of a text that was rejected, or of its key") func refused() throws {
        let key = MemoryScan()
        let scan = MemoryScan()
        do {
            var encoded = secretText(of: key, prefix: "push-secret-key-")
            encoded.withBytes { scan.secret.copyBytes(from: $0[20..<52]) }
            encoded.withMutableBytes {
                $0[74] = $0[74] == UInt8(ascii: "Q") ? UInt8(ascii: "P") : UInt8(ascii: "Q")
            }
            let error = #expect(throws: KeyTextError.self) {
                try encoded.withBytes { try DevicePrivateKey(parsing: $0) }
            }
            #expect(error == .wrongChecksum)
        }
        let left = scan.copyCount()
        #expect(left == 0)
        let keyLeft = key.copyCount()
        #expect(keyLeft == 0)
    }

    /// Returns the text of the 32 bytes that a scan searches for, in memory that is wiped.
    private func secretText(of scan: MemoryScan, prefix: String) -> WipedBytes {
        Bech32.encode(UnsafeRawBufferPointer(scan.secret), prefix: prefix, inCapitals: true)
    }
}
#endif
