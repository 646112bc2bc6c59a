internal import Foundation
internal import PushCrypto
internal import UserNotifications
internal import _PushBase

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
