import Foundation
internal import PushCore
internal import SealedPush

/// The device's own data store for attachments, with one folder for each notification on the screen.
///
/// Source: Apple, `UNNotificationAttachment`. The system checks the files of a remote notification after its extension
/// finishes. For rules that Apple doesn't document, see Docs/Decisions/0025-rules-of-the-simulated-device.md.
struct AttachmentStore {
    private let folder: URL
    /// The folders that an extension may hand over files from: its temporary folder and the app groups' folders.
    private let own: [URL]
    /// The folder of the extension's program. It's read-only, so files from here are copied.
    private let bundle: URL?

    init(container: URL, temporary: URL, bundle: URL?) {
        folder = container.absoluteURL.appending(path: "attachments", directoryHint: .isDirectory)
        own = [container, temporary]
        self.bundle = bundle
    }

    /// Checks the files in order and moves the valid ones into the store, replacing those of an earlier notification with
    /// this identifier. Returns a remark for each file that isn't shown.
    func take(_ attachments: [ShownAttachment], for identifier: String) -> (kept: [ShownAttachment], remarks: [String])
    {
        guard !attachments.isEmpty else {
            remove(identifier)
            return ([], [])
        }
        let prefix = Self.prefix(identifier)
        let target = folder.appending(path: prefix + UUID().uuidString, directoryHint: .isDirectory)
        var kept: [ShownAttachment] = []
        var remarks: [String] = []
        for attachment in attachments {
            do throws(Refusal) {
                kept.append(try take(attachment, number: kept.count + 1, into: target))
            } catch {
                remarks.append("attachment \(attachment.identifier) isn't shown: \(error.reason)")
            }
        }
        removeAll(beginning: prefix, except: kept.isEmpty ? nil : target)
        return (kept, remarks)
    }

    /// Removes the files of a notification that is no longer on the screen.
    func remove(_ identifier: String) {
        // Most devices have many notifications, but no such folder.
        guard access(folder.path(percentEncoded: false), F_OK) == 0 else { return }
        removeAll(beginning: Self.prefix(identifier), except: nil)
    }

    private func removeAll(beginning prefix: String, except kept: URL?) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        for name in names where name.hasPrefix(prefix) && name != kept?.lastPathComponent {
            try? FileManager.default.removeItem(at: folder.appending(path: name))
        }
    }

    /// Returns a folder name's prefix. An identifier may contain any character, but a folder's name may not.
    private static func prefix(_ identifier: String) -> String {
        Hex.encode(Array(Array(identifier.utf8).withUnsafeBytes { SHA256.hash($0) }.prefix(16))) + "."
    }
}

extension AttachmentStore {
    private struct Refusal: Error { let reason: String }

    private func take(_ attachment: ShownAttachment, number: Int, into folder: URL) throws(Refusal) -> ShownAttachment {
        let source = attachment.file.path(percentEncoded: false)
        var status = stat()
        guard lstat(source, &status) == 0 else { throw Refusal(reason: "the file doesn't exist") }
        // A link could point anywhere, and opening a pipe could block.
        guard status.st_mode & S_IFMT == S_IFREG else { throw Refusal(reason: "it isn't a regular file") }
        let isOfBundle = try isOfBundle(source)
        let type = try type(of: attachment, byteCount: Int(status.st_size))
        let target = folder.appending(path: "\(number).\(type.filenameExtensions[0])")
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            if isOfBundle {
                try FileManager.default.copyItem(at: attachment.file, to: target)
            } else {
                try FileManager.default.moveItem(at: attachment.file, to: target)
            }
        } catch { throw Refusal(reason: "it couldn't be moved into the device's data store") }
        var moved = attachment
        moved.file = target
        moved.byteCount = Int(status.st_size)
        return moved
    }

    /// Whether the file is in the bundle rather than in one of the extension's own folders. Follows symbolic links in the
    /// path to its folder.
    private func isOfBundle(_ path: String) throws(Refusal) -> Bool {
        let parent = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        func isIn(_ root: URL) -> Bool {
            guard let place = DurableFiles.real(parent), let root = DurableFiles.real(root.path(percentEncoded: false))
            else { return false }
            let slash = UInt8(ascii: "/")
            return place == root || place.starts(with: root == [slash] ? root : root + [slash])
        }
        if !isIn(folder) {
            if own.contains(where: isIn) { return false }
            if let bundle, isIn(bundle) { return true }
        }
        throw Refusal(reason: "it's outside the folders that the extension may use")
    }

    /// Returns the file's media type if its size and first bytes are valid for that type.
    private func type(of attachment: ShownAttachment, byteCount: Int) throws(Refusal) -> MediaType {
        guard let type = attachment.mediaType else {
            throw Refusal(reason: "the system doesn't show files of type \(attachment.type)")
        }
        guard byteCount > 0 else { throw Refusal(reason: "it's empty") }
        guard byteCount <= type.maximumByteCount else {
            throw Refusal(reason: "its \(byteCount) bytes exceed the \(type.maximumByteCount) for \(attachment.type)")
        }
        let start = try? DurableFiles.read(attachment.file, limit: MediaType.signatureByteCount, followsLinks: false)
        guard let start else { throw Refusal(reason: "it can't be read") }
        guard type.matches(start) else { throw Refusal(reason: "its first bytes aren't those of \(attachment.type)") }
        return type
    }
}
