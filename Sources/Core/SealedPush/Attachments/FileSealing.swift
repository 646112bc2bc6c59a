internal import PushCore

/// Encrypts a file's bytes, or takes them as they are, and hashes what is to be stored. In 128 KiB of memory whatever the
/// length. Not for two threads at once. Source: Specification 14.2.
package struct FileSealing: ~Copyable {
    private let key: AttachmentKey?
    private var hash: BLAKE2bStream?
    private var stream: SecretStream.Sealing?
    private var output: WipedBytes
    /// How many bytes it has given.
    package private(set) var byteCount = 0

    /// - Parameter key: a fresh one; nil for a file that is not encrypted.
    package init(key: AttachmentKey?) {
        self.key = key
        hash = BLAKE2bStream()
        output = WipedBytes(count: SealedFileLayout.headerByteCount + SealedFileLayout.sealedChunkByteCount)
    }

    /// Takes the next chunk, 65,536 bytes or the last of the file, and lends what is to be stored to `body`.
    package mutating func take(
        _ chunk: UnsafeRawBufferPointer, isLast: Bool,
        _ body: (UnsafeRawBufferPointer) throws(AttachmentError) -> Void
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

    /// BLAKE2b-256 over all that it gave.
    package consuming func finish() -> [UInt8] { hash.take()?.finish() ?? [] }
}
