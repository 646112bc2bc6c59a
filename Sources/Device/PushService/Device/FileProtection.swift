public import Foundation
package import PushCore
package import SealedPush

/// The Data Protection classes of our files, which determine when a phone can read them.
///
/// A new file inherits its folder's class. A container's class is that of the app's Data Protection capability: in Xcode,
/// `NSFileProtectionComplete`, under which no file can be opened while the phone is locked. So code that creates one of
/// our files sets the folder's class first. A file that is moved or linked elsewhere keeps its class. Sources:
/// developer.apple.com/forums/thread/24483 and 706258; Docs/Decisions/0030-files-on-a-phone.md.
package enum FileProtection: Sendable {
    /// Always readable. For files written before the first unlock after a restart, which reveal nothing about messages.
    case always
    /// Readable from the first unlock after a restart, like the key that opens messages.
    case fromFirstUnlock

    /// Creates a folder and its parents unless it exists, and sets its class. Costs one lookup if the class is already
    /// set. If it can't be set, the folder keeps its container's class, which is better than losing a message.
    package func ensureFolder(_ folder: URL) throws(DurableFiles.Failure) {
        do throws(DurableFiles.Failure) {
            try DurableFiles.ensureFolder(folder)
        } catch {
            guard error.code == ENOENT else { throw error }
            try makeFolders(around: folder)
            try DurableFiles.ensureFolder(folder)
        }
        let path = folder.path(percentEncoded: false)
        guard let system = Self.system, system.current(path) != self else { return }
        system.set(self, path)
    }

    /// Does the same for a subfolder of the service module's folder, which is always readable, for the log.
    package func ensureFolder(_ name: String, in root: URL) throws(DurableFiles.Failure) {
        try Self.always.ensureFolder(root)
        try ensureFolder(root.appending(path: name, directoryHint: .isDirectory))
    }

    private func makeFolders(around folder: URL) throws(DurableFiles.Failure) {
        do {
            try FileManager.default.createDirectory(
                at: folder.deletingLastPathComponent(), withIntermediateDirectories: true)
        } catch { throw DurableFiles.Failure(code: EIO) }
    }

    /// The system's calls, replaced in tests. Nil if files have no class: on a Mac or a server, disk encryption protects them.
    @TaskLocal package static var system = System.own

    package struct System: Sendable {
        /// Returns nil for any other class.
        let current: @Sendable (_ path: String) -> FileProtection?
        let set: @Sendable (FileProtection, _ path: String) -> Void

        #if os(iOS) || os(visionOS)
            static let own: System? = System(
                current: { path in
                    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
                    switch attributes?[.protectionKey] as? FileProtectionType {
                    case FileProtectionType.none: return .always
                    case FileProtectionType.completeUntilFirstUserAuthentication: return .fromFirstUnlock
                    default: return nil
                    }
                },
                set: { protection, path in
                    let type: FileProtectionType = protection == .always ? .none : .completeUntilFirstUserAuthentication
                    try? FileManager.default.setAttributes([.protectionKey: type], ofItemAtPath: path)
                })
        #else
            static let own: System? = nil
        #endif
    }
}

/// The folder that the app and its extension share. The ledger and the log are in its subfolder `SealedPush`.
public enum SharedContainer: Sendable {
    /// An app group, such as `group.com.example`. In the simulator, the simulated device's folder.
    case appGroup(String)
    /// A folder that the app chooses.
    case folder(URL)

    package static let subfolderName = "SealedPush"
}

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
