package import Foundation
import PushCore
package import SealedPush

/// Files, one per key, that tell the app under which keys an authenticated message has opened in the extension, which only
/// reads keys and can't confirm one. Several processes may mark the same key. Source: Specification 13.2.
package struct ConfirmationMarkers: Sendable {
    private let root: URL

    /// - Parameter root: The folder `SealedPush` of the shared container.
    package init(in root: URL) { self.root = root }

    /// Creates a key's marker if it's missing. A failure is harmless, because the next message tries again.
    package func mark(_ recipient: DevicePublicKey, at now: Timestamp) {
        let file = file(recipient)
        guard access(file.path(percentEncoded: false), F_OK) != 0 else { return }
        do {
            try FileProtection.fromFirstUnlock.ensureFolder(Self.folderName, in: root)
            let text = "\(now.secondsSince1970)\n"
            _ = try DurableFiles.create(file, holding: Array(text.utf8), staging: folder)
        } catch { return }
        DurableFiles.removeUnfinished(in: folder, untouchedFor: 86_400)
    }

    /// Returns the time at which the first message opened under a key; nil if none has. If it can't be read, returns `now`,
    /// because a message has opened nonetheless.
    package func time(of recipient: DevicePublicKey, at now: Timestamp) -> Timestamp? {
        guard let bytes = try? DurableFiles.read(file(recipient), limit: 32) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasSuffix("\n"), let seconds = FileLedger.decimal(String(text.dropLast())),
            let moment = Timestamp(secondsSince1970: seconds)
        else { return now }
        return min(moment, now)
    }

    func remove(_ recipient: DevicePublicKey) { unlink(file(recipient).path(percentEncoded: false)) }

    private static let folderName = "confirmed"

    private var folder: URL { root.appending(path: Self.folderName, directoryHint: .isDirectory) }

    private func file(_ recipient: DevicePublicKey) -> URL {
        // A file name can't be longer than 255 bytes.
        let bytes = recipient.bytes.count > 64 ? recipient.bytes.withUnsafeBytes(SHA256.hash) : recipient.bytes
        return folder.appending(path: Hex.encode(bytes))
    }
}
