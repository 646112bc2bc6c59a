internal import PushCore

/// Encrypts a file's bytes, or passes them through unencrypted, and hashes the bytes to be stored. Uses 128 KiB of memory
/// regardless of the length. Not safe for concurrent use. Source: ContentParts 14.2.
package struct FileSealing: ~Copyable {
    private let key: AttachmentKey?
    private var hash: BLAKE2bStream?
    private var stream: SecretStream.Sealing?
    private var output: WipedBytes
    /// The number of bytes produced so far.
    package private(set) var byteCount = 0

    /// - Parameter key: a fresh key; nil for a file that isn't encrypted.
    package init(key: AttachmentKey?) {
        self.key = key
        hash = BLAKE2bStream()
        output = WipedBytes(count: SealedFileLayout.headerByteCount + SealedFileLayout.sealedChunkByteCount)
    }

    /// Processes the next chunk, 65,536 bytes or the file's last, and lends `body` the bytes to store.
    package mutating func take(
        _ chunk: UnsafeRawBufferPointer, isLast: Bool, _ body: (UnsafeRawBufferPointer) throws(AttachmentError) -> Void
    ) throws(AttachmentError) {
        precondition(isLast || chunk.count == SealedFileLayout.chunkByteCount)
        guard let key else {
            hash?.update(chunk)
            byteCount += chunk.count
            return try body(chunk)
        }
        var start = SealedFileLayout.headerByteCount
        if stream == nil {
            start = 0
            stream = output.withMutableBytes { output in
                let header = UnsafeMutableRawBufferPointer(rebasing: output.prefix(SealedFileLayout.headerByteCount))
                return key.withBytes { SecretStream.Sealing(key: $0, header: header) }
            }
        }
        guard var stream = stream.take() else { return }
        let end = SealedFileLayout.headerByteCount + chunk.count + SecretStream.overheadByteCount
        output.withMutableBytes { output in
            let sealed = UnsafeMutableRawBufferPointer(rebasing: output[SealedFileLayout.headerByteCount..<end])
            stream.seal(chunk, isFinal: isLast, into: sealed)
        }
        self.stream = consume stream
        byteCount += end - start
        let digest = hash.take()
        guard var digest else { return }
        try output.withBytes { (output) throws(AttachmentError) in
            let stored = UnsafeRawBufferPointer(rebasing: output[start..<end])
            digest.update(stored)
            try body(stored)
        }
        hash = consume digest
    }

    /// Returns the BLAKE2b-256 of all bytes produced.
    package consuming func finish() -> [UInt8] { hash.take()?.finish() ?? [] }
}

/// The header and the chunks of an encrypted file, extracted from bytes that arrive in portions of any size.
struct SealedChunks: ~Copyable {
    private let key: AttachmentKey
    private var rest: Int
    /// Whether the final chunk has opened.
    private(set) var isOver = false
    private var stream: SecretStream.Opening?
    private var buffer: PieceBuffer?

    init(key: AttachmentKey, sealedByteCount: Int) {
        self.key = key
        rest = sealedByteCount
        buffer = PieceBuffer(capacity: SealedFileLayout.sealedChunkByteCount)
    }

    mutating func take(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(AttachmentError) -> Void
    ) throws(AttachmentError) {
        guard var buffer = buffer.take() else { throw .altered }
        var bytes = bytes
        while !bytes.isEmpty {
            let wanted = wantedByteCount
            guard wanted > 0 else { throw .altered }
            if buffer.count == 0, bytes.count >= wanted {
                // A whole chunk is opened in place.
                try open(UnsafeRawBufferPointer(rebasing: bytes.prefix(wanted)), body)
                bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(wanted))
                continue
            }
            let taken = buffer.fill(from: bytes, upTo: wanted)
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(taken))
            if buffer.count == wanted { try buffer.empty { (piece) throws(AttachmentError) in try open(piece, body) } }
        }
        self.buffer = consume buffer
    }

    private var wantedByteCount: Int {
        stream == nil ? SealedFileLayout.headerByteCount : min(rest, SealedFileLayout.sealedChunkByteCount)
    }

    private mutating func open(
        _ piece: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(AttachmentError) -> Void
    ) throws(AttachmentError) {
        rest -= piece.count
        guard var stream = stream.take() else {
            stream = key.withBytes { key in
                SecretStream.Opening(key: key, header: piece, maximumChunkByteCount: SealedFileLayout.chunkByteCount)
            }
            return
        }
        let tag = try stream.open(piece, body)
        // ContentParts 14.2: only the last chunk is final.
        guard let tag, (tag == .final) == (rest == 0) else { throw .altered }
        isOver = tag == .final
        self.stream = consume stream
    }
}
