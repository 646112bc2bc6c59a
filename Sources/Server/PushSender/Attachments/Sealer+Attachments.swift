internal import PushCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Sealer {
    /// Encrypts a picture, sound or movie into a new file, and returns the entry for ``Content/attachments``.
    ///
    /// Store the new file where `url` says, byte for byte, with any server for files: it can neither read it nor alter it
    /// unnoticed. Each call makes a fresh key; one encrypted file may serve any number of messages and devices. Takes
    /// time in proportion to the length (about 1 s for a gigabyte) and 0.3 MB of memory; blocks its thread.
    ///
    /// - Parameters:
    ///   - file: what to encrypt: a picture of at most 10 MB, a sound of 5 MB or a movie of 50 MB.
    ///   - output: the encrypted file. It must not exist yet, and is there only when it is whole.
    ///   - url: where it will lie; `https`.
    ///   - id: the attachment's, unique in its message: 1 to 64 bytes.
    ///   - type: nil for what the file's name says; its first bytes must agree.
    ///   - isPlain: true to store the file as it is, so that everybody on the way can see it: still checked by its hash.
    ///   - progress: is called after each 64 KiB, with how many bytes were read.
    public static func sealAttachment(
        _ file: URL, to output: URL, at url: URL, id: String, type: MediaType? = nil,
        thumbnail: AttachmentThumbnail? = nil, isPlain: Bool = false, progress: (Int) -> Void = { _ in }
    ) throws(AttachmentError) -> Content.Attachment {
        guard let type = type ?? MediaType(filenameExtension: file.pathExtension) else { throw .wrongType }
        let remote = try sealFile(
            file, to: output, at: url, isPlain: isPlain, check: { type.matches($0) },
            maximumByteCount: type.maximumByteCount, progress: progress)
        return Content.Attachment(id: id, file: remote, type: type, thumbnail: thumbnail)
    }

    /// Encrypts any file, of any length, into a new one: for what the app itself will fetch.
    ///
    /// As ``sealAttachment(_:to:at:id:type:thumbnail:isPlain:progress:)``, without iOS's limits.
    public static func sealFile(
        _ file: URL, to output: URL, at url: URL, isPlain: Bool = false, progress: (Int) -> Void = { _ in }
    ) throws(AttachmentError) -> RemoteFile {
        try sealFile(
            file, to: output, at: url, isPlain: isPlain, check: { _ in true }, maximumByteCount: .max,
            progress: progress)
    }

    private static func sealFile(
        _ file: URL, to output: URL, at url: URL, isPlain: Bool, check: ([UInt8]) -> Bool, maximumByteCount: Int,
        progress: (Int) -> Void
    ) throws(AttachmentError) -> RemoteFile {
        let input = try ChunkedFile(file)
        let stored = try NewFile(output, mode: isPlain ? 0o600 : 0o644)
        let key = isPlain ? nil : AttachmentKey()
        var sealing = FileSealing(key: key)
        var chunk = try input.next()
        guard !chunk.isEmpty else { throw .empty }
        guard check(Array(chunk.prefix(MediaType.signatureByteCount))) else { throw .wrongType }
        var readByteCount = 0
        while true {
            readByteCount += chunk.count
            guard readByteCount <= maximumByteCount else { throw .tooLarge }
            var next = try input.next()
            let scratch = WipedBytes(count: max(1, chunk.count)) { $0.copyBytes(from: chunk) }
            try scratch.withBytes { (bytes) throws(AttachmentError) in
                try sealing.take(UnsafeRawBufferPointer(rebasing: bytes.prefix(chunk.count)), isLast: next.isEmpty) {
                    (sealed) throws(AttachmentError) in try stored.write(sealed)
                }
            }
            progress(readByteCount)
            swap(&chunk, &next)
            wipe(&next)
            guard !chunk.isEmpty else { break }
        }
        let byteCount = sealing.byteCount
        let hash = sealing.finish()
        try stored.finish()
        return RemoteFile(url: url, byteCount: byteCount, hash: hash, key: key)
    }
}
