import TestSupport

@testable import PushCore

/// The bytes of hexadecimal digits; white space between them does not matter.
func bytes(hex text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.map { UInt8($0.hexDigitValue!) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// What `write` leaves in `count` bytes that were 0xaa before.
func output(_ count: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xaa, count: count)
    bytes.withUnsafeMutableBytes { write($0) }
    return bytes
}

extension X25519PrivateKey {
    func agree(_ point: X25519PublicKey) -> [UInt8] {
        withScalar { scalar in output(32) { X25519.agree(scalar, point, into: $0) } }
    }
}

extension WipedBytes {
    init(_ bytes: [UInt8]) { self.init(count: bytes.count) { $0.copyBytes(from: bytes) } }

    var array: [UInt8] { withBytes { Array($0) } }
}

extension HPKEContext {
    func seal(_ plaintext: [UInt8], aad: [UInt8], _ sequenceNumber: UInt32) -> [UInt8] {
        output(plaintext.count + 16) { output in
            plaintext.withUnsafeBytes { plaintext in
                aad.withUnsafeBytes {
                    seal(plaintext, additionalData: $0, sequenceNumber: sequenceNumber, into: output)
                }
            }
        }
    }

    /// Nil where it does not open.
    func open(_ ciphertext: [UInt8], aad: [UInt8], _ sequenceNumber: UInt32) -> [UInt8]? {
        var isOpen = false
        let plaintext = output(max(0, ciphertext.count - 16)) { output in
            ciphertext.withUnsafeBytes { ciphertext in
                aad.withUnsafeBytes {
                    isOpen = open(ciphertext, additionalData: $0, sequenceNumber: sequenceNumber, into: output)
                }
            }
        }
        return isOpen ? plaintext : nil
    }
}
