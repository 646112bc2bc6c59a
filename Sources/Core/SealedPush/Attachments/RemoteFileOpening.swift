internal import PushCore

/// Checks and decrypts a file as it arrives, in 128 KiB of memory whatever its length.
///
/// Nothing that it gave is to be believed before ``finish()`` has returned. Not for two threads at once.
/// Source: Specification 14.3.
package struct RemoteFileOpening: ~Copyable {
    private let file: RemoteFile
    private var hash: BLAKE2bStream?
    private var received = 0
    private var chunks: SealedChunks?

    package init(_ file: RemoteFile) {
        self.file = file
        hash = BLAKE2bStream()
        // No file of another length was ever sealed: whoever opened one would take an empty chunk for the last.
        guard let key = file.key, SealedFileLayout(sealedByteCount: file.byteCount) != nil else { return }
        chunks = SealedChunks(key: key, sealedByteCount: file.byteCount)
    }

    /// Takes the file's next bytes, of any number, and lends what opens of them to `body`, in order.
    ///
    /// Throws as soon as something is wrong, or `body` throws; then nothing more may be given.
    package mutating func take(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(AttachmentError) -> Void
    ) throws(AttachmentError) {
        guard received + bytes.count <= file.byteCount else { throw .tooLarge }
        received += bytes.count
        hash?.update(bytes)
        guard file.key != nil else { return try body(bytes) }
        guard var chunks = chunks.take() else { throw .altered }
        try chunks.take(bytes, body)
        self.chunks = consume chunks
    }

    /// Whether all of it came, and was what was announced.
    package consuming func finish() throws(AttachmentError) {
        guard received == file.byteCount else { throw .cut }
        // Only the final chunk says that nothing is missing.
        if file.key != nil {
            guard let chunks = chunks.take(), chunks.isOver else { throw .altered }
        }
        guard let digest = hash.take()?.finish(), ConstantTime.areEqual(digest, file.hash) else { throw .altered }
    }
}

/// The header and the chunks of an encrypted file, taken out of bytes that come in any portions.
private struct SealedChunks: ~Copyable {
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
                // A whole piece is opened where it lies.
                try open(UnsafeRawBufferPointer(rebasing: bytes.prefix(wanted)), body)
                bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(wanted))
                continue
            }
            let taken = buffer.fill(from: bytes, upTo: wanted)
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(taken))
            if buffer.count == wanted {
                try buffer.empty { (piece) throws(AttachmentError) in try open(piece, body) }
            }
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
                SecretStream.Opening(
                    key: key, header: piece, maximumChunkByteCount: SealedFileLayout.chunkByteCount)
            }
            return
        }
        let tag = try stream.open(piece, body)
        // Specification 14.2: the last chunk, and no other, is final.
        guard let tag, (tag == .final) == (rest == 0) else { throw .altered }
        isOver = tag == .final
        self.stream = consume stream
    }
}
