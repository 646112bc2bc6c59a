import TestSupport
import Testing

@testable import PushCore

@Suite("A sealed box")
struct SealedBoxTests {
    private let plaintext = Array("nobody says who wrote this".utf8)

    @Test("opens under its key at every length up to 200 bytes", arguments: [0...100, 101...200])
    func roundTrip(counts: ClosedRange<Int>) {
        var random = SeededGenerator()
        let key = X25519PrivateKey.random()
        for count in counts {
            let plaintext = random.bytes(count)
            #expect(open(seal(plaintext, to: key.publicKey), with: key) == plaintext)
        }
    }

    @Test("has 48 bytes more than its plaintext, and is new each time")
    func fresh() {
        let key = X25519PrivateKey.random()
        let boxes = (0..<5).map { _ in seal(plaintext, to: key.publicKey) }
        #expect(boxes.allSatisfy { $0.count == plaintext.count + 48 })
        #expect(Set(boxes).count == 5)
    }

    @Test("does not open with one bit changed, the ephemeral key's top bit included")
    func everyBit() {
        let key = X25519PrivateKey.random()
        let box = seal(plaintext, to: key.publicKey)
        for bit in 0..<box.count * 8 {
            var altered = box
            altered[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(open(altered, with: key) == nil)
        }
    }

    @Test("does not open when it is cut, or when anything is added")
    func everyCut() {
        let key = X25519PrivateKey.random()
        let box = seal(plaintext, to: key.publicKey)
        for count in 0..<box.count { #expect(open(Array(box[..<count]), with: key) == nil) }
        #expect(open(box + [0], with: key) == nil)
        #expect(open([0] + box, with: key) == nil)
    }

    @Test("opens into a buffer of the right length only")
    func wrongBuffer() {
        let key = X25519PrivateKey.random()
        let box = seal(plaintext, to: key.publicKey)
        for count in [0, plaintext.count - 1, plaintext.count + 1] {
            var isOpen = true
            box.withUnsafeBytes { box in _ = output(count) { isOpen = SealedBox.open(box, with: key, into: $0) } }
            #expect(!isOpen)
        }
    }

    private func seal(_ plaintext: [UInt8], to recipient: X25519PublicKey) -> [UInt8] {
        output(plaintext.count + 48) { output in
            plaintext.withUnsafeBytes { SealedBox.seal($0, to: recipient, into: output) }
        }
    }

    private func open(_ box: [UInt8], with key: borrowing X25519PrivateKey) -> [UInt8]? {
        var plaintext = [UInt8](repeating: 0xaa, count: max(0, box.count - 48))
        let isOpen = plaintext.withUnsafeMutableBytes { plaintext in
            box.withUnsafeBytes { SealedBox.open($0, with: key, into: plaintext) }
        }
        return isOpen ? plaintext : nil
    }
}
