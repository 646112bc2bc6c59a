internal import PushCore
internal import SealedPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A file that is read in chunks of 65,536 bytes; only the last is shorter.
struct ChunkedFile: ~Copyable {
    private let descriptor: Int32

    init(_ file: URL) throws(AttachmentError) {
        descriptor = open(file.path(percentEncoded: false), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable }
    }

    /// Empty at the end.
    func next() throws(AttachmentError) -> [UInt8] {
        do throws(DurableFiles.Failure) {
            return try DurableFiles.readAll(descriptor, limit: SealedFileLayout.chunkByteCount)
        } catch {
            throw .unreadable
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}

/// A file that is there only when it is whole, and was not there before.
struct NewFile: ~Copyable {
    private let file: URL
    private let unfinished: URL
    private let descriptor: Int32

    /// - Parameter mode: what others may do with it.
    init(_ file: URL, mode: mode_t) throws(AttachmentError) {
        self.file = file
        unfinished = file.deletingLastPathComponent().appending(path: ".\(UUID().uuidString).unfinished")
        var status = stat()
        let isThere = lstat(file.path(percentEncoded: false), &status) == 0
        descriptor =
            isThere
            ? -1 : open(unfinished.path(percentEncoded: false), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard !isThere else { throw .exists }
        guard descriptor >= 0 else { throw .notWritable }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(AttachmentError) {
        do throws(DurableFiles.Failure) { try DurableFiles.writeAll(bytes, to: descriptor) } catch {
            throw .notWritable
        }
    }

    /// Puts it in place, also through a crash.
    func finish() throws(AttachmentError) {
        let isPlaced: Bool
        do throws(DurableFiles.Failure) {
            try DurableFiles.sync(descriptor)
            isPlaced = try DurableFiles.place(unfinished, as: file)
        } catch {
            throw .notWritable
        }
        guard isPlaced else { throw .exists }
    }

    deinit {
        if descriptor >= 0 {
            close(descriptor)
            unlink(unfinished.path(percentEncoded: false))
        }
    }
}
