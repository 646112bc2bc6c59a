internal import Foundation
internal import PushCore
internal import SealedPush

/// A file of rules that an app writes and its extension reads: one JSON object, replaced as a whole, so that a reader sees
/// either the old or the new rules. Readable from the first unlock after a restart. Source: DeviceState 38.
struct RulesFile: Sendable {
    private let root: URL
    private let name: String

    /// - Parameter root: The folder `SealedPush` of the shared container.
    init(_ name: String, in root: URL) { (self.root, self.name) = (root, name) }

    /// Opens a file for the app's own calls; nil if the system doesn't know the app group.
    init?(_ name: String, in container: SharedContainer) {
        guard let root = DeviceEnvironment.system.folder(container) else { return nil }
        self.init(name, in: root)
    }

    /// Returns the members, or nil if there is no file. A file that can't be read isn't the same as none.
    func members() throws(RulesError) -> [String: JSONValue]? {
        let bytes: [UInt8]
        do throws(DurableFiles.Failure) {
            bytes = try DurableFiles.read(file, limit: Self.maximumByteCount + 1, followsLinks: false)
        } catch {
            guard error.code == ENOENT else { throw .unreadable }
            return nil
        }
        guard let members = JSONReader.object(bytes, maximumByteCount: Self.maximumByteCount) else { throw .unreadable }
        return members
    }

    /// Replaces the rules. Durable on return; takes a few milliseconds.
    func replace(with members: [String: JSONValue]) throws(RulesError) {
        let bytes = JSONValue.object(members).bytes
        // The reader also limits the length of a name.
        guard JSONReader.object(bytes, maximumByteCount: Self.maximumByteCount) != nil else { throw .tooMany }
        let temporary = folder.appending(path: "tmp.\(UUID().uuidString)")
        do throws(DurableFiles.Failure) {
            try FileProtection.fromFirstUnlock.ensureFolder(Self.folderName, in: root)
            DurableFiles.removeUnfinished(in: folder, untouchedFor: 60)
            try DurableFiles.write(bytes, to: temporary, mode: 0o600)
            try DurableFiles.rename(temporary, to: file)
            try DurableFiles.sync(folder: folder)
        } catch { throw .notWritten }
    }

    private var folder: URL { root.appending(path: Self.folderName, directoryHint: .isDirectory) }
    private var file: URL { folder.appending(path: "\(name).json") }

    private static let folderName = "rules"
    private static let maximumByteCount = 131_072
}
