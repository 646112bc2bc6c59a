public import Foundation
package import PushCore
package import SealedPush

/// When a phone lets our files be read: the classes of Data Protection.
///
/// A new file takes its folder's class, and a container's class is the one that the app's Data Protection capability
/// names: in Xcode `NSFileProtectionComplete`, under which nothing can be opened while the phone is locked. So whoever
/// makes a file of ours sees to its folder's class first. A file that is moved or linked elsewhere keeps its own.
/// Sources: developer.apple.com/forums/thread/24483 and 706258; Docs/Decisions/0030-files-on-a-phone.md.
package enum FileProtection: Sendable {
    /// Always readable. For what is written when a push arrives before the first unlock after a restart, and says nothing
    /// of any message.
    case always
    /// Readable from the first unlock after a restart on, as is the key that opens messages.
    case fromFirstUnlock

    /// Makes a folder and those around it, unless it is there, and sees to its class.
    ///
    /// Costs a look at the folder where that is so already. A class that can't be set is no reason to lose a message: the
    /// folder then keeps its container's.
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

    /// The same for a folder in the service module's own, which is readable always, for the log.
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

    /// The system's calls, unless a test puts in others; nil where files have no class: a Mac's and a server's are
    /// protected by the encryption of their disks.
    @TaskLocal package static var system = System.own

    package struct System: Sendable {
        /// Nil for a class that is neither of the two.
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

/// The folder that app and extension share: the ledger and the log lie in its subfolder `SealedPush`.
public enum SharedContainer: Sendable {
    /// An app group (`group.com.example`). In the simulator: the simulated device's folder.
    case appGroup(String)
    /// A folder of the app's own choice.
    case folder(URL)

    package static let subfolderName = "SealedPush"
}

/// Under which of the device's keys an authenticated message has opened: the extension's word to its app, one file a key.
///
/// The extension only reads the keys, so it can't confirm one itself. Several processes may mark one key at once.
/// Source: Specification 13.2.
package struct ConfirmationMarkers: Sendable {
    private let root: URL

    /// - Parameter root: the folder `SealedPush` of the shared container.
    package init(in root: URL) { self.root = root }

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

    func remove(_ recipient: DevicePublicKey) { unlink(file(recipient).path(percentEncoded: false)) }

    private static let folderName = "confirmed"

    private var folder: URL { root.appending(path: Self.folderName, directoryHint: .isDirectory) }

    private func file(_ recipient: DevicePublicKey) -> URL {
        // A file's name has at most 255 bytes.
        let bytes = recipient.bytes.count > 64 ? recipient.bytes.withUnsafeBytes(SHA256.hash) : recipient.bytes
        return folder.appending(path: Hex.encode(bytes))
    }
}
