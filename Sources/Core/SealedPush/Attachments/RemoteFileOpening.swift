internal import PushCore

/// Checks and decrypts a file as it arrives, in 128 KiB of memory regardless of its length. Don't use any output until
/// ``finish()`` returns. Not safe for concurrent use. Source: ContentParts 14.3.
package struct RemoteFileOpening: ~Copyable {
    private let file: RemoteFile
    private var hash: BLAKE2bStream?
    private var received = 0
    private var chunks: SealedChunks?

    package init(_ file: RemoteFile) {
        self.file = file
        hash = BLAKE2bStream()
        // Files are never sealed to any other length: opening one would mistake an empty chunk for the last.
        guard let key = file.key, SealedFileLayout(sealedByteCount: file.byteCount) != nil else { return }
        chunks = SealedChunks(key: key, sealedByteCount: file.byteCount)
    }

    /// Processes any number of the file's next bytes, and lends the opened bytes to `body`, in order. Throws as soon as an
    /// error is found or `body` throws. Don't pass more bytes after that.
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

    /// Checks that the file arrived completely and unaltered.
    package consuming func finish() throws(AttachmentError) {
        guard received == file.byteCount else { throw .cut }
        // Only the final chunk proves that the file is complete.
        if file.key != nil { guard let chunks = chunks.take(), chunks.isOver else { throw .altered } }
        guard let digest = hash.take()?.finish(), ConstantTime.areEqual(digest, file.hash) else { throw .altered }
    }
}
