package import Foundation
package import PushCore

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

    // Nil if files have no class: on a Mac or a server, disk encryption protects them.
    #if DEBUG
    /// The system's calls, which tests replace. In a release build, they can't be replaced.
    @TaskLocal static var system = System.own
    #else
    private static let system = System.own
    #endif

    struct System: Sendable {
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
