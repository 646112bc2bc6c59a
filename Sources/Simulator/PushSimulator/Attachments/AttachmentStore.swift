package import Foundation
internal import PushCore
internal import SealedPush
internal import UserNotifications

/// The device's own data store for attachments: one folder for each notification on the screen.
struct AttachmentStore {
    private let folder: URL
    private let sandbox: AttachmentSandbox

    /// - Parameter bundle: the folder of the extension's program.
    init(of device: SimulatedDevice, bundle: URL?) {
        self.init(container: device.container, temporary: device.temporaryFolder, bundle: bundle)
    }

    init(container: URL, temporary: URL, bundle: URL?) {
        folder = container.absoluteURL.appending(path: Self.name, directoryHint: .isDirectory)
        sandbox = AttachmentSandbox(own: [container, temporary], bundle: bundle, closed: folder)
    }

    /// Checks the files in their order, moves the good ones into the store in place of those of an earlier notification
    /// with this identifier, and says of each other one why it is not shown.
    func take(_ attachments: [ShownAttachment], for identifier: String) -> (kept: [ShownAttachment], remarks: [String])
    {
        guard !attachments.isEmpty else {
            remove(identifier)
            return ([], [])
        }
        removeLink()
        let prefix = Self.prefix(identifier)
        let own = folder.appending(path: prefix + UUID().uuidString, directoryHint: .isDirectory)
        var kept: [ShownAttachment] = []
        var remarks: [String] = []
        for attachment in attachments {
            do throws(CheckedAttachment.Refusal) {
                kept.append(try take(attachment, number: kept.count + 1, into: own))
            } catch {
                remarks.append("the attachment \(attachment.identifier) is not shown: \(error.reason)")
            }
        }
        removeAll(beginning: prefix, except: kept.isEmpty ? nil : own)
        return (kept, remarks)
    }

    /// Removes the files of a notification that is no longer on the screen.
    func remove(_ identifier: String) {
        // Most devices have no such folder, and have many notifications.
        guard access(folder.path(percentEncoded: false), F_OK) == 0 else { return }
        removeLink()
        removeAll(beginning: Self.prefix(identifier), except: nil)
    }

    /// On a phone no extension reaches the store. Here one might put a link to another folder in its place.
    private func removeLink() {
        // With a slash at its end, the path would be that of the folder it points to.
        let path = folder.deletingLastPathComponent().appending(path: Self.name).path(percentEncoded: false)
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { unlink(path) }
    }

    private func take(
        _ attachment: ShownAttachment, number: Int, into own: URL
    ) throws(CheckedAttachment.Refusal) -> ShownAttachment {
        let checked = try CheckedAttachment(attachment, sandbox: sandbox)
        try? FileManager.default.createDirectory(
            at: own, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let filenameExtension = AttachmentFormat(type: attachment.type)?.filenameExtension ?? ""
        let target = own.appending(path: "\(number).\(filenameExtension)")
        let source = attachment.file.path(percentEncoded: false)
        if checked.isOfBundle || rename(source, target.path(percentEncoded: false)) != 0 {
            try checked.copy(to: target)
            if !checked.isOfBundle { unlink(source) }
        }
        var moved = attachment
        moved.file = target
        moved.byteCount = checked.byteCount
        return moved
    }

    private func removeAll(beginning prefix: String, except kept: URL?) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        for name in names where name.hasPrefix(prefix) && name != kept?.lastPathComponent {
            try? FileManager.default.removeItem(at: folder.appending(path: name))
        }
    }

    /// An identifier may hold anything, a folder's name may not.
    private static func prefix(_ identifier: String) -> String {
        let digest = Array(identifier.utf8).withUnsafeBytes { SHA256.hash($0) }
        return digest.prefix(16).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "."
    }

    private static let name = "attachments"
}

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
            throw Refusal(reason: "it has \(byteCount) bytes, and \(format.type) may have \(format.maximumByteCount)")
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

/// A file shown with a notification.
package struct ShownAttachment: Codable, Equatable, Sendable {
    package var identifier: String
    /// The uniform type identifier, such as `public.png`.
    package var type: String
    /// In the device's own data store; from there on it is nobody's to change.
    package var file: URL
    /// What the extension had called the file.
    package var name: String
    package var byteCount: Int
    package var thumbnail: Thumbnail

    /// What the extension said about the thumbnail.
    package struct Thumbnail: Codable, Equatable, Sendable {
        package var isHidden: Bool
        /// The part to show, in units of the image's width and height; nil for all of it.
        package var clippingRect: CGRect?
        /// The frame of an animated image, or the seconds into a movie; nil for the system's choice.
        package var time: Double?

        package init(isHidden: Bool = false, clippingRect: CGRect? = nil, time: Double? = nil) {
            self.isHidden = isHidden
            self.clippingRect = clippingRect
            self.time = time
        }
    }

    package enum Kind: String, Sendable { case image, audio, movie }

    package var kind: Kind {
        switch type {
        case "public.jpeg", "com.compuserve.gif", "public.png": .image
        case "public.mpeg", "public.mpeg-2-video", "public.mpeg-4", "public.avi": .movie
        default: .audio
        }
    }

    /// One object for `--json`.
    var jsonObject: [String: Any] {
        let rect = thumbnail.clippingRect.map { [$0.minX, $0.minY, $0.width, $0.height].map { Double($0) } }
        return [
            "identifier": identifier, "type": type, "kind": kind.rawValue, "file": file.path(percentEncoded: false),
            "name": name, "bytes": byteCount, "thumbnailHidden": thumbnail.isHidden,
            "thumbnailClippingRect": rect ?? NSNull(), "thumbnailTime": thumbnail.time ?? NSNull(),
        ]
    }
}

extension ShownAttachment {
    /// As the extension hands it over: nothing is checked yet, and the file is still the extension's.
    init(_ attachment: UNNotificationAttachment) {
        let thumbnail = attachment.thumbnail
        self.init(
            identifier: attachment.identifier, type: attachment.type, file: attachment.url.absoluteURL,
            name: attachment.url.lastPathComponent, byteCount: 0,
            thumbnail: Thumbnail(
                isHidden: thumbnail.isHidden, clippingRect: thumbnail.clippingRect, time: thumbnail.time))
    }
}

/// What a file's first bytes say about its type.
///
/// Sources: the formats' own documents (PNG, GIF89a, JFIF, RIFF, AIFF, ISO 14496-12, ISO 11172-1, ISO 13818-1, ID3v2).
enum AttachmentContent {
    /// As many bytes as are looked at.
    static let byteCount = 12

    /// Whether a file of this type may begin so.
    static func begins(_ bytes: [UInt8], as type: String) -> Bool {
        switch type {
        case "public.jpeg": bytes.starts(with: [0xff, 0xd8, 0xff])
        case "public.png": bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        case "com.compuserve.gif": bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8)
        case "public.aiff-audio": isChunk("FORM", ["AIFF", "AIFC"], bytes)
        case "com.microsoft.waveform-audio": isChunk("RIFF", ["WAVE"], bytes)
        case "public.avi": isChunk("RIFF", ["AVI "], bytes)
        case "public.mp3": bytes.starts(with: "ID3".utf8) || isAudioFrame(bytes)
        case "public.mpeg-4", "public.mpeg-4-audio": bytes.dropFirst(4).starts(with: "ftyp".utf8)
        // A pack header, or a bare video sequence.
        case "public.mpeg", "public.mpeg-2-video":
            bytes.starts(with: [0, 0, 1, 0xba]) || bytes.starts(with: [0, 0, 1, 0xb3])
        default: false
        }
    }

    private static func isChunk(_ name: String, _ kinds: [String], _ bytes: [UInt8]) -> Bool {
        bytes.starts(with: name.utf8) && kinds.contains { bytes.dropFirst(8).starts(with: $0.utf8) }
    }

    /// Eleven bits of synchronization, then a version and a layer that are not reserved.
    private static func isAudioFrame(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 2 && bytes[0] == 0xff && bytes[1] & 0xe0 == 0xe0 && bytes[1] & 0x18 != 0x08
            && bytes[1] & 0x06 != 0
    }
}
