@testable import PushCore

#if os(Linux)
import Crypto
import TestSupport
import Testing

/// The traces of a secret, found by searching all of the process's memory for its bytes.
@Suite("After a secret has gone, the process's memory", .serialized) struct WipingTests {
    struct Failure: Error {}

    /// Every C function is called once before: the first call goes through the dynamic linker, which saves the registers
    /// on the stack, including any part of a secret in them.
    init() {
        use(X25519PrivateKey.random())
        use(Ed25519PrivateKey.random())
        use(
            HPKEContext(
                sendingTo: X25519PrivateKey.random().publicKey, from: X25519PrivateKey.random(), info: HPKEInfo([]))
        )
    }

    private func use(_ key: borrowing X25519PrivateKey) {
        #expect(key.agree(X25519PrivateKey.random().publicKey).count == 32)
        let publicKey = key.publicKey
        let box = output(148) { box in
            [UInt8](repeating: 1, count: 100).withUnsafeBytes { SealedBox.seal($0, to: publicKey, into: box) }
        }
        var plaintext = [UInt8](repeating: 0, count: 100)
        let isOpen = plaintext.withUnsafeMutableBytes { plaintext in
            box.withUnsafeBytes { SealedBox.open($0, with: key, into: plaintext) }
        }
        #expect(isOpen)
    }

    private func use(_ key: borrowing Ed25519PrivateKey) {
        let signature = key.sign([1, 2, 3])
        #expect(key.publicKey.verify(signature, of: [1, 2, 3]))
        #expect(!key.publicKey.verify(signature, of: [1, 2, 4]))
    }

    private func use(_ context: borrowing HPKEContext) {
        let sealed = context.seal([1, 2, 3], aad: [], 0)
        let opened = context.open(sealed, aad: [], 0)
        let refused = context.open([UInt8](repeating: 0, count: 19), aad: [], 0)
        #expect(opened == [1, 2, 3])
        #expect(refused == nil)
    }

    /// Expects this number of copies of a secret in the process's memory.
    private func expect(_ count: Int, of scan: MemoryScan, sourceLocation: SourceLocation = #_sourceLocation) {
        let found = scan.copyCount()
        #expect(found == count, sourceLocation: sourceLocation)
    }

    private func random(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        SecureRandom.fill(bytes)
        return bytes
    }

    @Test("The search of the memory finds secrets that plain memory leaves behind") func control() {
        let scan = MemoryScan()
        expect(0, of: scan)
        // Many, since other threads may reuse some of the blocks.
        let blocks = (0..<64).map { _ in UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 16) }
        for block in blocks { block.copyMemory(from: UnsafeRawBufferPointer(scan.secret)) }
        for block in blocks { block.deallocate() }
        let left = scan.copyCount()
        #expect(left > 0)
    }

    @Test("Memory has one copy of a guarded secret while it lives, and none afterward") func guardedSecret() {
        let scan = MemoryScan()
        do {
            let secret = GuardedSecret(count: 32) { $0.copyMemory(from: UnsafeRawBufferPointer(scan.secret)) }
            expect(1, of: scan)
            #expect(secret.count == 32)
        }
        expect(0, of: scan)
    }

    @Test("Memory has one copy of wiped bytes only while they live", arguments: [32, 33, 100, 5_000, 500_000])
    func wipedBytes(count: Int) {
        let scan = MemoryScan()
        do {
            var scratch = WipedBytes(count: count)
            scratch.withMutableBytes { scratch in
                let end = UnsafeMutableRawBufferPointer(rebasing: scratch[(count - 32)...])
                end.copyMemory(from: UnsafeRawBufferPointer(scan.secret))
            }
            expect(1, of: scan)
            #expect(scratch.count == count)
        }
        expect(0, of: scan)
    }

    @Test("Memory has no copy of a secret whose initializer threw an error") func thrown() {
        let scan = MemoryScan()
        #expect(throws: Failure.self) {
            _ = try WipedBytes(count: 32) { bytes throws(Failure) in
                bytes.copyMemory(from: UnsafeRawBufferPointer(scan.secret))
                throw Failure()
            }
        }
        #expect(throws: Failure.self) {
            _ = try GuardedSecret(count: 32) { bytes throws(Failure) in
                bytes.copyMemory(from: UnsafeRawBufferPointer(scan.secret))
                throw Failure()
            }
        }
        expect(0, of: scan)
    }

    @Test("Memory has no copy of a collected piece, whether it was lent or not", arguments: [true, false])
    func piece(isLent: Bool) {
        let scan = MemoryScan()
        do {
            var buffer = PieceBuffer(capacity: 5_000)
            let before = [UInt8](repeating: 0, count: 4_968)
            let taken = before.withUnsafeBytes { buffer.fill(from: $0, upTo: 5_000) }
            #expect(taken == 4_968)
            let rest = buffer.fill(from: UnsafeRawBufferPointer(scan.secret), upTo: 5_000)
            #expect(rest == 32)
            expect(1, of: scan)
            if isLent {
                let count = buffer.empty { $0.count }
                #expect(count == 5_000)
            }
        }
        expect(0, of: scan)
    }

    private final class Stream {
        let opening: SecretStream.Opening

        init(_ opening: consuming SecretStream.Opening) { self.opening = opening }
    }

    /// A stream's own key is HChaCha20 of its input: the first and last words of a ChaCha20 block minus the block's
    /// initial words (draft-irtf-cfrg-xchacha, 2.2). This header makes it the first block of a cipher.
    @Test("Memory has one copy of the key for each open stream, and none afterward") func streamKey() throws {
        let (key, header) = (random(SecretStream.keyByteCount), random(SecretStream.headerByteCount))
        defer { for bytes in [key, header] { bytes.deallocate() } }
        header.copyBytes(from: [1, 0, 0, 0])
        let block = try ChaChaPoly.seal(
            [UInt8](repeating: 0, count: 64), using: SymmetricKey(data: key),
            nonce: ChaChaPoly.Nonce(data: Array(header)[4..<16])
        ).ciphertext
        let scan = MemoryScan()
        Array(block).withUnsafeBytes { block in
            for word in 0..<8 {
                let place = word < 4 ? 4 * word : 32 + 4 * word
                let start = word < 4 ? Array("expand 32-byte k".utf8) : Array(header)
                let before = start.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place % 16, as: UInt32.self) }
                let after = block.loadUnaligned(fromByteOffset: place, as: UInt32.self)
                scan.secret.storeBytes(of: after &- before, toByteOffset: 4 * word, as: UInt32.self)
            }
        }
        // Many, since some of the blocks may be reused.
        var streams = (0..<64).map { _ in
            Stream(
                SecretStream.Opening(
                    key: UnsafeRawBufferPointer(key), header: UnsafeRawBufferPointer(header),
                    maximumChunkByteCount: 32))
        }
        expect(streams.count, of: scan)
        streams.removeAll()
        expect(0, of: scan)
    }

    @Test("Memory has one copy of an opened chunk while it is lent, and none afterward") func openedChunk() {
        let scan = MemoryScan()
        let (key, header) = (random(SecretStream.keyByteCount), random(SecretStream.headerByteCount))
        defer { for bytes in [key, header] { bytes.deallocate() } }
        // At the end of a large block, which isn't overwritten when it is freed.
        var chunk = [UInt8](repeating: 0, count: 5_000)
        chunk.withUnsafeMutableBytes { chunk in
            UnsafeMutableRawBufferPointer(rebasing: chunk.suffix(MemoryScan.byteCount))
                .copyMemory(from: UnsafeRawBufferPointer(scan.secret))
        }
        let sealed = output(SecretStream.overheadByteCount + chunk.count) { sealed in
            var stream = SecretStream.Sealing(key: UnsafeRawBufferPointer(key), header: header)
            chunk.withUnsafeBytes { stream.seal($0, isFinal: true, into: sealed) }
        }
        wipe(&chunk)
        do {
            var stream = SecretStream.Opening(
                key: UnsafeRawBufferPointer(key), header: UnsafeRawBufferPointer(header),
                maximumChunkByteCount: 5_000)
            let tag = sealed.withUnsafeBytes { sealed in
                stream.open(sealed) { _ in
                    expect(1, of: scan)
                }
            }
            #expect(tag == .final)
        }
        expect(0, of: scan)
    }

    @Test("Memory has no copy of a wiped array") func array() {
        let scan = MemoryScan()
        var array = [UInt8](repeating: 0, count: 32)
        array.withUnsafeMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(scan.secret)) }
        expect(1, of: scan)
        wipe(&array)
        expect(0, of: scan)
        #expect(array == [UInt8](repeating: 0, count: 32))
    }

    @Test("Memory has no copy of a secret key, even where an agreement or a sealed box was computed")
    func secretKey() throws {
        let scan = MemoryScan()
        do {
            let key = X25519PrivateKey(copying: UnsafeRawBufferPointer(scan.secret))
            expect(1, of: scan)
            use(key)
            expect(1, of: scan)
        }
        expect(0, of: scan)
    }

    @Test("Memory has no copy of an HMAC's state, whether it was finished or dropped", arguments: [true, false])
    func hmac(isFinished: Bool) {
        let scan = MemoryScan()
        do {
            var mac = HMACSHA256(key: .empty)
            mac.update(UnsafeRawBufferPointer(scan.secret))
            // The last block is kept unchanged until it is full.
            expect(1, of: scan)
            if isFinished {
                let tag = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 16)
                defer { tag.deallocate() }
                mac.finish(into: tag)
            }
        }
        expect(0, of: scan)
    }

    @Test("Memory has no copy of a key that HKDF used, or of its block") func hkdf() {
        let given = MemoryScan()
        _ = output(50) { output in HKDF.expand(UnsafeRawBufferPointer(given.secret), info: .empty, into: output) }
        expect(0, of: given)
        // The second block is derived from the first, in scratch memory.
        let block = MemoryScan()
        HKDF.expand(.empty, info: .empty, into: block.secret)
        var long = output(64) { HKDF.expand(.empty, info: .empty, into: $0) }
        wipe(&long)
        expect(0, of: block)
    }

    @Test("Memory has one copy of a context's key while the context lives, and none afterward") func contextKey() {
        let scan = MemoryScan()
        do {
            let context = HPKEContext(
                sendingTo: X25519PrivateKey.random().publicKey, from: X25519PrivateKey.random(), info: HPKEInfo([]))
            context.withKeyAndNonce(0) { key, _ in scan.secret.copyMemory(from: key) }
            expect(1, of: scan)
            use(context)
            expect(1, of: scan)
        }
        expect(0, of: scan)
    }

    @Test("Memory has no copy of an ephemeral, shared, or scheduled secret once the context is created")
    func contextSecrets() throws {
        let (ephemeral, shared, scheduled) = (MemoryScan(), MemoryScan(), MemoryScan())
        let sender = X25519PrivateKey.random()
        let recipient = X25519PrivateKey.random().publicKey
        do {
            let bytes = WipedBytes(count: 32) { $0.copyMemory(from: UnsafeRawBufferPointer(ephemeral.secret)) }
            let enc = bytes.withBytes { X25519.publicKey(of: $0) }
            let secret = AuthenticatedKEM.encapsulate(to: recipient, from: sender, ephemeral: bytes, enc: enc)
            secret.withBytes { shared.secret.copyMemory(from: $0) }
            HPKEContext.secret(secret, psk: .empty).withBytes { scheduled.secret.copyMemory(from: $0) }
        }
        let context = HPKEContext(
            sendingTo: recipient, from: sender, info: HPKEInfo([]),
            ephemeral: WipedBytes(count: 32) { $0.copyMemory(from: UnsafeRawBufferPointer(ephemeral.secret)) })
        expect(0, of: ephemeral)
        expect(0, of: shared)
        expect(0, of: scheduled)
        #expect(context.enc.count == 32)
    }

    /// The first 32 bytes of SHA-256 of a sentence, and both halves of its SHA-512, from which the signing scalar and
    /// the nonces are derived.
    private static let signingSeed: StaticString =
        "0a1f3bb7a11448da5aade7e9c940fb68d161a54ce719e97dfc503aabd5cbbeba"
    private static let signingScalar: StaticString =
        "b3e0656680f18a9da71972ed7d889944b1cec4e6565fbc5873f7d4a875767882"
    private static let signingPrefix: StaticString =
        "a77bdcaca6c54d7b53fa10436be3f0fc703cc4c6ff62a2b13227281054e9aa29"

    @Test("Memory has one copy of a signing key while it lives, even after it signs, and none afterward")
    func signingKey() throws {
        let scan = MemoryScan()
        do {
            let key = Ed25519PrivateKey(copying: UnsafeRawBufferPointer(scan.secret))
            expect(1, of: scan)
            use(key)
            expect(1, of: scan)
        }
        expect(0, of: scan)
    }

    @Test("Memory has no copy of the scalar or prefix with which a key signs, even while it lives") func derived()
        throws
    {
        let (seed, scalar, prefix) = (MemoryScan(), MemoryScan(), MemoryScan())
        fill(seed.secret, Self.signingSeed)
        fill(scalar.secret, Self.signingScalar)
        fill(prefix.secret, Self.signingPrefix)
        let key = Ed25519PrivateKey(copying: UnsafeRawBufferPointer(seed.secret))
        use(key)
        expect(0, of: scalar)
        expect(0, of: prefix)
        expect(1, of: seed)
        use(key)
    }

    /// Converts digits into bytes without an intermediate copy.
    private func fill(_ bytes: UnsafeMutableRawBufferPointer, _ digits: StaticString) {
        func value(_ digit: UInt8) -> UInt8 {
            digit >= UInt8(ascii: "a") ? digit - UInt8(ascii: "a") + 10 : digit - UInt8(ascii: "0")
        }
        for index in bytes.indices {
            bytes[index] = value(digits.bytes[2 * index]) << 4 | value(digits.bytes[2 * index + 1])
        }
    }
}
#endif
