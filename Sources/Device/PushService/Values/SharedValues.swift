package import Foundation
internal import PushCore
internal import SealedPush

/// Named texts that the app leaves in the shared container for its extension. With them, a message can show what its
/// server doesn't know, such as the quote of the day or the user's name for a contact.
///
/// They never leave the device. They are one JSON file, replaced as a whole, so an extension sees either the old or the new
/// values. It can be read from the first unlock after a restart, even while the screen is locked, so don't store what that
/// screen must not show. At most 64 values, each with at most 4,096 bytes of UTF-8, and 65,536 bytes of JSON in all. Names
/// have 1 to 64 letters (A to Z), digits, dots, hyphens, and underscores. Thread-safe; the last writer wins.
public struct SharedValues: Sendable {
    private let root: URL

    /// Opens this app's values; nil if the system doesn't know the app group.
    public init?(container: SharedContainer) {
        guard let root = DeviceEnvironment.system.folder(container.whole) else { return nil }
        self.init(in: root)
    }

    /// - Parameter root: The folder `SealedPush` of the shared container.
    package init(in root: URL) { self.root = root }

    /// Replaces all values with these. Durable on return; takes a few milliseconds.
    public func replaceAll(with values: [String: String]) throws(SharedValuesError) {
        guard values.count <= Self.maximumCount else { throw .tooMany }
        for (name, value) in values {
            guard TextTemplate.isName(name) else { throw .badName }
            guard value.utf8.count <= Self.maximumValueByteCount else { throw .tooLong(name: name) }
        }
        let bytes = JSONValue.object(values.mapValues(JSONValue.string)).bytes
        guard bytes.count <= Self.maximumFileByteCount else { throw .tooMuch }
        let temporary = folder.appending(path: "tmp.\(UUID().uuidString)")
        do {
            try FileProtection.fromFirstUnlock.ensureFolder(Self.folderName, in: root)
            DurableFiles.removeUnfinished(in: folder, untouchedFor: 60)
            try DurableFiles.write(bytes, to: temporary, mode: 0o600)
            try DurableFiles.rename(temporary, to: file)
            try DurableFiles.sync(folder: folder)
        } catch { throw .notWritten }
    }

    /// Returns the values; empty if there are none or they can't be read. Cuts overlong values, regardless of their writer.
    public func all() -> [String: String] {
        guard let bytes = try? DurableFiles.read(file, limit: Self.maximumFileByteCount + 1),
            let members = JSONReader.object(bytes, maximumByteCount: Self.maximumFileByteCount)
        else { return [:] }
        return members.compactMapValues { $0.string.map { TextTemplate.cut($0, to: Self.maximumValueByteCount) } }
    }

    private var folder: URL { root.appending(path: Self.folderName, directoryHint: .isDirectory) }
    private var file: URL { folder.appending(path: "values.json") }

    private static let folderName = "values"
    private static let maximumCount = 64
    private static let maximumValueByteCount = 4_096
    private static let maximumFileByteCount = 65_536
}
