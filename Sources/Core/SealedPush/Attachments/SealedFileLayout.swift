internal import PushCore

/// The layout of an encrypted file: a 24-byte header, then chunks of 65,536 + 17 bytes; the last chunk may be
/// shorter. Source: ContentParts 14.2.
package struct SealedFileLayout: Hashable, Sendable {
    package let plaintextByteCount: Int

    package static let headerByteCount = SecretStream.headerByteCount
    package static let chunkByteCount = 65_536
    package static let sealedChunkByteCount = chunkByteCount + SecretStream.overheadByteCount

    package init(plaintextByteCount: Int) { self.plaintextByteCount = plaintextByteCount }

    /// Returns nil if no encrypted file has this length.
    package init?(sealedByteCount: Int) {
        let chunks = sealedByteCount - Self.headerByteCount
        guard chunks >= SecretStream.overheadByteCount else { return nil }
        let count = (chunks + Self.sealedChunkByteCount - 1) / Self.sealedChunkByteCount
        let last = chunks - (count - 1) * Self.sealedChunkByteCount
        guard last >= SecretStream.overheadByteCount else { return nil }
        // Only an empty file has an empty last chunk, so that each content length has exactly one file length.
        guard last > SecretStream.overheadByteCount || count == 1 else { return nil }
        plaintextByteCount = chunks - count * SecretStream.overheadByteCount
    }

    package var chunkCount: Int { max(1, (plaintextByteCount + Self.chunkByteCount - 1) / Self.chunkByteCount) }

    package var sealedByteCount: Int {
        Self.headerByteCount + plaintextByteCount + chunkCount * SecretStream.overheadByteCount
    }
}
