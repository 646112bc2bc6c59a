internal import PushCore

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Sealer {
    /// Encrypts a picture, sound, or movie into a new file, and returns the entry for `Content.attachments`.
    ///
    /// Upload the new file to `url` unchanged. Any file server will do, because it can neither read the file nor alter it
    /// undetected. Each call creates a new key. One encrypted file can serve any number of messages and devices. Takes time
    /// in proportion to the length (about 1 s for a gigabyte) and 0.3 MB of memory, and blocks its thread.
    ///
    /// - Parameters:
    ///   - file: The file to encrypt: at most 10 MB for a picture, 5 MB for a sound, and 50 MB for a movie.
    ///   - output: The encrypted file. It must not exist yet, and appears only when it's complete.
    ///   - url: The `https` URL at which the file will be stored.
    ///   - id: The attachment's ID, unique in its message: 1 to 64 bytes.
    ///   - type: The media type, or nil to use the file's extension. The file's first bytes must match.
    ///   - thumbnail: The thumbnail for the attachment.
    ///   - isPlain: Whether to store the file unencrypted, so that it's readable in transit. Its hash is still checked.
    ///   - progress: A closure that receives the number of bytes read so far, after each 64 KiB.
    public static func sealAttachment(
        _ file: URL, to output: URL, at url: URL, id: String, type: MediaType? = nil,
        thumbnail: AttachmentThumbnail? = nil, isPlain: Bool = false, progress: (Int) -> Void = { _ in }
    ) throws(AttachmentError) -> Content.Attachment {
        guard Content.Attachment.isID(id) else { throw .wrongID }
        guard let type = type ?? MediaType(filenameExtension: file.pathExtension) else { throw .wrongType }
        let remote = try sealFile(file, to: output, at: url, type: type, isPlain: isPlain, progress: progress)
        return Content.Attachment(id: id, file: remote, type: type, thumbnail: thumbnail)
    }

    /// Encrypts a file of any length into a new one, for the app itself to fetch. Works like
    /// ``sealAttachment(_:to:at:id:type:thumbnail:isPlain:progress:)``, but without iOS's limits.
    public static func sealFile(
        _ file: URL, to output: URL, at url: URL, isPlain: Bool = false, progress: (Int) -> Void = { _ in }
    ) throws(AttachmentError) -> RemoteFile {
        try sealFile(file, to: output, at: url, type: nil, isPlain: isPlain, progress: progress)
    }

    /// - Parameter type: The media type, or nil for any file of any length.
    private static func sealFile(
        _ file: URL, to output: URL, at url: URL, type: MediaType?, isPlain: Bool, progress: (Int) -> Void
    ) throws(AttachmentError) -> RemoteFile {
        let input = try ChunkedFile(file)
        let stored = try NewFile(output, mode: isPlain ? 0o600 : 0o644)
        let key = isPlain ? nil : AttachmentKey()
        var sealing = FileSealing(key: key)
        var chunk = try input.next()
        guard !chunk.isEmpty else { throw .empty }
        guard type?.matches(Array(chunk.prefix(MediaType.signatureByteCount))) ?? true else { throw .wrongType }
        var readByteCount = 0
        while true {
            readByteCount += chunk.count
            guard readByteCount <= type?.maximumByteCount ?? .max else { throw .tooLarge }
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

extension Sealer {
    /// Moves content that is too large for one push into an encrypted file. Returns nil if it fits as it is.
    ///
    /// The device fetches the file first (`OverflowStage`), and shows the truncated content if it can't. Both parts get the
    /// same `id`, `topic`, and `sent`. Source: ContentParts 18.1.
    ///
    /// - Parameters:
    ///   - content: The content to move.
    ///   - url: The `https` URL at which the file will be stored, ideally with a random last component.
    ///   - recipient: The device's key, or nil to fit any device whose key isn't hybrid.
    /// - Throws: ``SealError/tooLarge(byteCountOver:)`` if the content exceeds 65,536 bytes, or if not even a truncated
    ///   body fits with the file's entry. Only the body is cut, so there must be one.
    public func moveOverflow(
        of content: Content, at url: URL, for recipient: DevicePublicKey? = nil
    ) throws(SealError) -> MovedContent? {
        let sizePlan = recipient.map { self.sizePlan(for: $0) } ?? sizePlan
        var content = content
        try complete(&content)
        // Sealing may add an expiration.
        let laterByteCount = receiptByteCount + (content.expires == nil ? ",\"expires\":253402300799".utf8.count : 0)
        guard content.json.count + laterByteCount > sizePlan.maximumContentByteCount, content.withdrawal == nil else {
            return nil
        }
        let json = content.json
        guard json.count <= Overflow.maximumContentByteCount else {
            throw .tooLarge(byteCountOver: json.count - Overflow.maximumContentByteCount)
        }
        let (file, remote) = Self.sealed(json, at: url)
        // The truncated part omits these. They're fetched along with the full text, or not at all.
        var part = content
        part.attachments = []
        part.chart = nil
        part.person?.image = nil
        part.group?.image = nil
        part.group?.recipients = []
        part.data = nil
        part.other = [:]
        part.overflow = Overflow(file: remote)
        do { try part.checkForSealing() } catch { throw .content(error) }
        let excess = part.json.count + laterByteCount - sizePlan.maximumContentByteCount
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
        // The content fits into one chunk, so this can't fail.
        try? scratch.withBytes { (bytes) throws(AttachmentError) in
            try sealing.take(bytes, isLast: true) { (sealed) throws(AttachmentError) in file.append(contentsOf: sealed)
            }
        }
        let byteCount = sealing.byteCount
        return (file, RemoteFile(url: url, byteCount: byteCount, hash: sealing.finish(), key: key))
    }
}

/// A file that is read in chunks of 65,536 bytes. Only the last chunk is shorter.
struct ChunkedFile: ~Copyable {
    private let descriptor: Int32

    init(_ file: URL) throws(AttachmentError) {
        do throws(DurableFiles.Failure) { descriptor = try DurableFiles.opened(file, anyKind: true) } catch {
            throw AttachmentError(code: error.code, or: .unreadable)
        }
    }

    /// Returns the next chunk, which is empty at the end.
    func next() throws(AttachmentError) -> [UInt8] {
        do throws(DurableFiles.Failure) {
            return try DurableFiles.readAll(descriptor, limit: SealedFileLayout.chunkByteCount)
        } catch { throw AttachmentError(code: error.code, or: .unreadable) }
    }

    deinit { close(descriptor) }
}

/// A new file that appears only when it's complete.
struct NewFile: ~Copyable {
    private let file: URL
    private let unfinished: URL
    private let descriptor: Int32

    /// - Parameter mode: The file's permissions.
    init(_ file: URL, mode: mode_t) throws(AttachmentError) {
        self.file = file
        unfinished = file.deletingLastPathComponent().appending(path: ".\(UUID().uuidString).unfinished")
        var status = stat()
        let isThere = lstat(file.path(percentEncoded: false), &status) == 0
        descriptor =
            isThere ? -1 : open(unfinished.path(percentEncoded: false), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard !isThere else { throw .exists }
        guard descriptor >= 0 else { throw AttachmentError(code: errno, or: .notWritable) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(AttachmentError) {
        do throws(DurableFiles.Failure) { try DurableFiles.writeAll(bytes, to: descriptor) } catch {
            throw AttachmentError(code: error.code, or: .notWritable)
        }
    }

    /// Moves the file into place durably.
    func finish() throws(AttachmentError) {
        let isPlaced: Bool
        do throws(DurableFiles.Failure) {
            try DurableFiles.sync(descriptor)
            isPlaced = try DurableFiles.place(unfinished, as: file)
        } catch { throw AttachmentError(code: error.code, or: .notWritable) }
        guard isPlaced else { throw .exists }
    }

    deinit {
        if descriptor >= 0 {
            close(descriptor)
            unlink(unfinished.path(percentEncoded: false))
        }
    }
}
