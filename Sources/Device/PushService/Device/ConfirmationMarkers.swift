package import Foundation
internal import PushCore
package import SealedPush

/// Under which of the device's keys an authenticated message has opened: the extension's word to its app, one file a key.
///
/// The extension only reads the keys, so it can't confirm one itself. Several processes may mark one key at once.
/// Source: Specification 13.2.
package struct ConfirmationMarkers: Sendable {
    private let root: URL

    /// - Parameter root: the folder `SealedPush` of the shared container.
    package init(in root: URL) { self.root = root }

    init?(container: SharedContainer, environment: DeviceEnvironment) {
        guard let root = environment.folder(container) else { return nil }
        self.init(in: root)
    }

    /// Leaves the marker of a key, if there is none. One that can't be written costs nothing: the next message tries again.
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

    /// When the first message opened under a key; nil where none has.
    ///
    /// - Parameter now: stands for a time that can't be read, since a message has opened all the same.
    package func time(of recipient: DevicePublicKey, at now: Timestamp) -> Timestamp? {
        guard let bytes = try? DurableFiles.read(file(recipient), limit: 32) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasSuffix("\n"), let seconds = FileLedger.decimal(String(text.dropLast())),
            let moment = Timestamp(secondsSince1970: seconds)
        else { return now }
        return min(moment, now)
    }

    /// For a key that is erased.
    func remove(_ recipient: DevicePublicKey) { unlink(file(recipient).path(percentEncoded: false)) }

    private static let folderName = "confirmed"

    private var folder: URL { root.appending(path: Self.folderName, directoryHint: .isDirectory) }

    private func file(_ recipient: DevicePublicKey) -> URL {
        // A file's name has at most 255 bytes.
        let bytes = recipient.bytes.count > 64 ? recipient.bytes.withUnsafeBytes(SHA256.hash) : recipient.bytes
        return folder.appending(path: Hex.encode(bytes))
    }
}
