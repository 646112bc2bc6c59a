package import Foundation
internal import PushCore
import SealedPush

/// Texts that the app leaves in the shared container for its extension, by name: what a message shows and its server does
/// not know, such as the quote of the day or how the person calls a contact.
///
/// They never leave the device. One JSON file, replaced as a whole, so that an extension sees the values before or after a
/// change. It can be read from the first unlock after a restart on, also while the screen is locked: for nothing that a locked
/// screen must not show. At most 64 values, each with 4,096 bytes of UTF-8 at most, and 65,536 bytes of JSON in all. Names have 1 to 64 letters (A to Z), digits,
/// dots, hyphens and underscores. Safe from many threads; of two that write at once, one's values are there.
public struct SharedValues: Sendable {
    private let root: URL

    /// Nil where the system knows no such app group.
    public init?(container: SharedContainer) { self.init(container: container, environment: .system) }

    package init?(container: SharedContainer, environment: DeviceEnvironment) {
        guard let root = environment.folder(container) else { return nil }
        self.init(in: root)
    }

    /// - Parameter root: the folder `SealedPush` of the shared container.
    package init(in root: URL) { self.root = root }

    /// Puts these values in place of all that were there. Durable on return; some milliseconds.
    public func replaceAll(with values: [String: String]) throws(SharedValuesError) {
        guard values.count <= Self.maximumCount else { throw .tooMany }
        for (name, value) in values {
            guard ValueName.isAllowed(name) else { throw .badName }
            guard value.utf8.count <= Self.maximumValueByteCount else { throw .tooLong(name: name) }
        }
        var writer = JSONWriter()
        writer.value(.object(values.mapValues(JSONValue.string)))
        guard writer.bytes.count <= Self.maximumFileByteCount else { throw .tooMuch }
        let temporary = folder.appending(path: "tmp.\(UUID().uuidString)")
        do {
            try FileProtection.fromFirstUnlock.ensureFolder(Self.folderName, in: root)
            DurableFiles.removeUnfinished(in: folder, untouchedFor: 60)
            try DurableFiles.write(writer.bytes, to: temporary, mode: 0o600)
            try DurableFiles.rename(temporary, to: file)
            try DurableFiles.sync(folder: folder)
        } catch { throw .notWritten }
    }

    /// What is there; empty where there is nothing, or nothing that reads. Whatever has written the file, no value is longer
    /// than it may be.
    public func all() -> [String: String] {
        guard let bytes = try? DurableFiles.read(file, limit: Self.maximumFileByteCount + 1),
            let members = JSONReader.object(bytes, maximumByteCount: Self.maximumFileByteCount)
        else { return [:] }
        return members.compactMapValues { $0.string.map { Template.cut($0, to: Self.maximumValueByteCount) } }
    }

    private var folder: URL { root.appending(path: Self.folderName, directoryHint: .isDirectory) }
    private var file: URL { folder.appending(path: "values.json") }

    private static let folderName = "values"
    private static let maximumCount = 64
    private static let maximumValueByteCount = 4_096
    private static let maximumFileByteCount = 65_536
}

/// Why values were not written; those that were there still are.
public enum SharedValuesError: Error, Equatable, Sendable {
    /// More than 64.
    case tooMany
    /// A name that no placeholder can have.
    case badName
    /// More than 4,096 bytes.
    case tooLong(name: String)
    /// More than 65,536 bytes of JSON in all.
    case tooMuch
    /// The disk is full, or the container is not there.
    case notWritten
}
