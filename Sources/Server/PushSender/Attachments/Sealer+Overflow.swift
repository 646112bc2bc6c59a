internal import PushCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Content that was moved out of a push: see ``Sealer/moveOverflow(of:at:)``.
public struct MovedContent: Sendable {
    /// What to seal: the first part, which says where the whole is.
    public let content: Content
    /// What to store, byte for byte, before the push is sent: encrypted, at most 65,577 bytes.
    public let file: [UInt8]
}

extension Sealer {
    /// Moves content that is too large for one push into an encrypted file; nil where it fits as it is.
    ///
    /// The device fetches the file first (`OverflowStage`), and shows the cut content where it can't. `id`, `topic` and
    /// `sent` are fixed by this, the same in both parts. Source: Specification 14.5.
    ///
    /// - Parameter url: where the file will lie; `https`, best with a random last part.
    /// - Throws: ``SealError/tooLarge(byteCountOver:)`` for content of more than 65,536 bytes, and where not even a cut part
    ///   fits beside the file's entry: the body is what is cut, so there must be one.
    public func moveOverflow(of content: Content, at url: URL) throws(SealError) -> MovedContent? {
        var content = content
        try complete(&content)
        guard content.json.count + receiptByteCount > sizePlan.maximumContentByteCount else { return nil }
        let json = content.json
        guard json.count <= Overflow.maximumContentByteCount else {
            throw .tooLarge(byteCountOver: json.count - Overflow.maximumContentByteCount)
        }
        let (file, remote) = Self.sealed(json, at: url)
        // What the whole has and the cut part can do without: it is fetched with the text, or not at all.
        var part = content
        part.attachments = []
        part.chart = nil
        part.data = nil
        part.other = [:]
        part.overflow = Overflow(file: remote)
        do { try part.checkForSealing() } catch { throw .content(error) }
        let excess = part.json.count + receiptByteCount - sizePlan.maximumContentByteCount
        if excess > 0 {
            guard let shorter = part.truncated(by: excess) else { throw .tooLarge(byteCountOver: excess) }
            part = shorter
        }
        return MovedContent(content: part, file: file)
    }

    private static func sealed(_ json: [UInt8], at url: URL) -> (file: [UInt8], remote: RemoteFile) {
        let key = AttachmentKey()
        var sealing = FileSealing(key: key)
        var file: [UInt8] = []
        let scratch = WipedBytes(count: json.count) { $0.copyBytes(from: json) }
        // Content is at most one chunk, and nothing here can fail.
        try? scratch.withBytes { (bytes) throws(AttachmentError) in
            try sealing.take(bytes, isLast: true) { (sealed) throws(AttachmentError) in file.append(contentsOf: sealed)
            }
        }
        let byteCount = sealing.byteCount
        return (file, RemoteFile(url: url, byteCount: byteCount, hash: sealing.finish(), key: key))
    }
}
