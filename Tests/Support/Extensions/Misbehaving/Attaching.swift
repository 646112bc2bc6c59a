import Foundation
import Glibc
import UserNotifications

/// Attachments that are valid when the extension makes them, but not when it hands them over.
struct Attaching {
    /// A path from the payload at which the extension may not write.
    private let outside: URL?

    init(_ request: UNNotificationRequest) {
        outside = (request.content.userInfo["outside"] as? String).map { URL(filePath: $0) }
    }

    func attachments(_ what: String) -> [UNNotificationAttachment] {
        switch what {
        case "several": return ["good", "missing", "good"].flatMap { attachments($0) }
        case "one-file-twice":
            let file = write(Self.png, "twice.png")
            return [attachment(file), attachment(file)].compactMap { $0 }
        case "another's":
            let taken =
                FileManager.default.enumerator(at: store, includingPropertiesForKeys: nil)?
                .compactMap { $0 as? URL }.filter { $0.pathExtension == "png" } ?? []
            return taken.compactMap { attachment($0) }
        default:
            let file = write(Self.png, "\(what).png", in: what == "outside" ? outside : nil)
            let attachment = attachment(file)
            spoil(file, what)
            return [attachment].compactMap { $0 }
        }
    }

    private func spoil(_ file: URL, _ what: String) {
        let other = file.appendingPathExtension("moved")
        switch what {
        case "missing": unlink(file.path)
        case "large": truncate(file.path, 10_000_001)
        case "largest": truncate(file.path, 10_000_000)
        case "empty": truncate(file.path, 0)
        case "text": try? Data("no picture".utf8).write(to: file)
        case "jpeg": try? Data([0xff, 0xd8, 0xff, 0xe0]).write(to: file)
        case "link":
            rename(file.path, other.path)
            symlink(other.path, file.path)
        case "folder":
            unlink(file.path)
            mkdir(file.path, 0o700)
        case "pipe":
            unlink(file.path)
            mkfifo(file.path, 0o600)
        default: break
        }
    }

    private func attachment(_ file: URL) -> UNNotificationAttachment? {
        let options: [AnyHashable: Any] = [
            UNNotificationAttachmentOptionsThumbnailHiddenKey: true, UNNotificationAttachmentOptionsThumbnailTimeKey: 3,
        ]
        return try? UNNotificationAttachment(identifier: "picture", url: file, options: options)
    }

    private func write(_ bytes: [UInt8], _ name: String, in folder: URL? = nil) -> URL {
        let folder = (folder ?? .temporaryDirectory).appending(path: UUID().uuidString)
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: name)
        try? Data(bytes).write(to: file)
        return file
    }

    /// The store beside the temporary folder, on this simulated device.
    private var store: URL { URL.temporaryDirectory.deletingLastPathComponent().appending(path: "attachments") }

    /// The start of a file, which is enough for the checks.
    private static let png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d]
}
