internal import PushCore

/// Where the chunks of an encrypted file lie: 24 bytes of header, chunks of 65,536 bytes and 17 more, the last one as long
/// as it comes. Source: Specification 14.2.
package struct SealedFileLayout: Hashable, Sendable {
    package let plaintextByteCount: Int

    package static let headerByteCount = SecretStream.headerByteCount
    package static let chunkByteCount = 65_536
    package static let sealedChunkByteCount = chunkByteCount + SecretStream.overheadByteCount

    package init(plaintextByteCount: Int) { self.plaintextByteCount = plaintextByteCount }

    /// Nil where no encrypted file has this length.
    package init?(sealedByteCount: Int) {
        let chunks = sealedByteCount - Self.headerByteCount
        guard chunks >= SecretStream.overheadByteCount else { return nil }
        let count = (chunks + Self.sealedChunkByteCount - 1) / Self.sealedChunkByteCount
        let last = chunks - (count - 1) * Self.sealedChunkByteCount
        guard last >= SecretStream.overheadByteCount else { return nil }
        // An empty last chunk is for an empty file alone: one length of file for each length of content.
        guard last > SecretStream.overheadByteCount || count == 1 else { return nil }
        plaintextByteCount = chunks - count * SecretStream.overheadByteCount
    }

    package var chunkCount: Int { max(1, (plaintextByteCount + Self.chunkByteCount - 1) / Self.chunkByteCount) }

    package var sealedByteCount: Int {
        Self.headerByteCount + plaintextByteCount + chunkCount * SecretStream.overheadByteCount
    }
}
