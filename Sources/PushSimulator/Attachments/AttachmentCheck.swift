internal import Foundation
internal import PushCrypto
internal import SealedPush
internal import UserNotifications
internal import _PushBase

/// A file that an extension has handed over, open and found to be what it says.
///
/// Source: Apple, `UNNotificationAttachment`: the system checks the files of a remote notification after its extension has
/// finished. What Apple does not say is chosen in Docs/Decisions/0025-rules-of-the-simulated-device.md.
struct CheckedAttachment {
    private let file: OpenFile
    let byteCount: Int
    /// Not to be taken away: it belongs to the app's bundle.
    let isOfBundle: Bool

    /// Why a file is not shown.
    struct Refusal: Error { let reason: String }

    init(_ attachment: ShownAttachment, sandbox: AttachmentSandbox) throws(Refusal) {
        let path = attachment.file.path(percentEncoded: false)
        guard attachment.file.isFileURL else { throw Refusal(reason: "it is no file") }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw Refusal(reason: "there is no such file") }
        // A link may lead anywhere, and opening a pipe may hang.
        guard status.st_mode & S_IFMT == S_IFREG else { throw Refusal(reason: "it is no regular file") }
        guard let place = sandbox.place(of: path) else {
            throw Refusal(reason: "it is outside the folders that the extension may use")
        }
        isOfBundle = place == .bundle
        guard let format = AttachmentFormat(type: attachment.type) else {
            throw Refusal(reason: "\(attachment.type) is no type that is shown")
        }
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Refusal(reason: "it can't be read") }
        file = OpenFile(descriptor)
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Refusal(reason: "it is no regular file")
        }
        byteCount = Int(status.st_size)
        guard byteCount > 0 else { throw Refusal(reason: "it is empty") }
        guard byteCount <= format.maximumByteCount else {
            throw Refusal(
                reason: "it has \(byteCount) bytes, and \(format.type) may have \(format.maximumByteCount)")
        }
        var start = [UInt8](repeating: 0, count: AttachmentContent.byteCount)
        let count = pread(descriptor, &start, start.count, 0)
        guard AttachmentContent.begins(Array(start.prefix(max(0, count))), as: format.type) else {
            throw Refusal(reason: "it does not begin as \(format.type) does")
        }
    }

    /// Writes all of it into a new file.
    func copy(to target: URL) throws(Refusal) {
        let path = target.path(percentEncoded: false)
        let output = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw Self.noRoom }
        defer { close(output) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var position = 0
        while position < byteCount {
            let count = pread(file.descriptor, &buffer, min(buffer.count, byteCount - position), off_t(position))
            guard count > 0 else { throw Self.noRoom }
            do throws(DurableFiles.Failure) {
                try DurableFiles.writeAll(Array(buffer[..<count]), to: output)
            } catch {
                unlink(path)
                throw Self.noRoom
            }
            position += count
        }
    }

    private static let noRoom = Refusal(reason: "it can't be moved into the device's data store")
}

/// Closes what it was given.
private final class OpenFile {
    let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }
}

/// The folders that an extension may hand files over from.
struct AttachmentSandbox {
    /// Its temporary folder and the app groups'.
    let own: [URL]
    /// Read only: what comes from here is copied.
    let bundle: URL?
    /// Within the others, and not for extensions.
    let closed: URL

    enum Place { case own, bundle }

    /// Nil where it is in none. Symbolic links on the way are followed first.
    func place(of path: String) -> Place? {
        let parent = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        guard let folder = Self.real(parent), !Self.contains(closed, folder) else { return nil }
        if own.contains(where: { Self.contains($0, folder) }) { return .own }
        return bundle.map { Self.contains($0, folder) } == true ? .bundle : nil
    }

    private static func contains(_ root: URL, _ folder: String) -> Bool {
        guard let root = real(root.path(percentEncoded: false)) else { return false }
        return folder == root || folder.hasPrefix(root == "/" ? root : root + "/")
    }

    private static func real(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
