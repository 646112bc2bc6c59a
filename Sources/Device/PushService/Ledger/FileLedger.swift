package import Foundation
internal import PushCore
package import SealedPush

/// The ledger in files: one a message, in a folder a day; no lock that a suspended extension could hold.
///
/// App and extension may use one folder at once, in any number of processes, and each may be killed at any moment.
/// Recording costs two syncs, a few milliseconds on a phone. Source: Specification 7.
public struct FileLedger: Sendable {
    let folder: URL

    /// - Parameter folder: the ledger's own; it need not exist yet.
    package init(folder: URL) { self.folder = folder }

    /// The moment at or before which content is refused; nil where the ledger is missing or was copied from elsewhere.
    package func floor() throws(LedgerError) -> Timestamp? { try floor(listing: names) }

    /// - Parameter names: the names in the folder, each time anew; tests put in their own.
    func floor(listing names: () throws(LedgerError) -> [String]?) throws(LedgerError) -> Timestamp? {
        // A floor that rises while a large folder is listed may be in no list: the new one made behind it, the old one
        // removed before it. It would look as if there were none.
        for _ in 1...3 {
            guard let names = try names() else { return nil }
            do throws(DurableFiles.Failure) {
                guard try isOriginal() else { return nil }
            } catch {
                throw .unavailable
            }
            if let floor = Self.floor(in: names) { return floor }
        }
        return nil
    }

    /// Makes a missing ledger; where one is there already, its floor is raised.
    package func begin(floor: Timestamp, asksForNewKey: Bool) throws(LedgerError) {
        do {
            // Nothing opens before the first unlock, so nothing is recorded then.
            try FileProtection.fromFirstUnlock.ensureFolder(
                folder.lastPathComponent, in: folder.deletingLastPathComponent())
            excludeFromBackup()
            if asksForNewKey { try mark(Self.rotationMarker) }
            try raise(to: floor)
            try renewOrigin()
        } catch {
            throw .unavailable
        }
    }

    /// Whether the ledger was found missing, so that the app should make a new key.
    package var asksForNewKey: Bool {
        FileManager.default.fileExists(atPath: path(Self.rotationMarker))
    }

    /// Makes `floor.<seconds>`, and removes lower ones. Only ever raises the floor, whoever else does so at once.
    func raise(to floor: Timestamp) throws(DurableFiles.Failure) {
        try mark(Self.floorPrefix + String(floor.secondsSince1970))
        for name in try DurableFiles.names(in: folder) {
            guard let other = Self.floor(named: name), other < floor else { continue }
            unlink(path(name))
        }
    }

    /// Nil where there is no folder.
    func names() throws(LedgerError) -> [String]? {
        do {
            return try DurableFiles.names(in: folder)
        } catch {
            if error.code == ENOENT { return nil }
            throw .unavailable
        }
    }

    static func floor(in names: [String]) -> Timestamp? { names.compactMap(floor(named:)).max() }

    func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }

    private static func floor(named name: String) -> Timestamp? {
        guard name.hasPrefix(floorPrefix) else { return nil }
        return decimal(String(name.dropFirst(floorPrefix.count))).flatMap(Timestamp.init(secondsSince1970:))
    }

    /// Digits only, without leading zeros: one name for each number.
    static func decimal(_ text: String) -> Int64? {
        guard let value = Int64(text), value >= 0, String(value) == text else { return nil }
        return value
    }

    private func mark(_ name: String) throws(DurableFiles.Failure) {
        if try DurableFiles.create(folder.appending(path: name), holding: [], staging: folder) { return }
        // Who made it may have been killed before it would outlast the power.
        try DurableFiles.sync(folder: folder)
    }

    /// Whether this is the ledger that was begun, and no copy of it.
    ///
    /// What can't be read at the moment (a locked phone, no descriptor left, a failing disk) is not missing, and throws: a
    /// ledger that was taken for lost would cost the message, and a key. Source: Specification 7.9.
    private func isOriginal() throws(DurableFiles.Failure) -> Bool {
        do throws(DurableFiles.Failure) {
            let text = try DurableFiles.read(folder.appending(path: Self.originTextName), limit: 128)
            guard let name = Self.originName(in: text) else { return false }
            return text == (try originText(name))
        } catch {
            guard error.code == ENOENT else { throw error }
            return false
        }
    }

    /// Two processes may do so at once: each makes a file of its own, and whichever text is there in the end names the
    /// file that it was made from.
    ///
    /// - Parameter beforeNaming: runs where another process would hurt most; for tests.
    func renewOrigin(beforeNaming: () -> Void = {}) throws(DurableFiles.Failure) {
        guard try !isOriginal() else { return }
        let name = Self.originPrefix + Hex.encode(SecureRandom.bytes(count: 8))
        try DurableFiles.createEmpty(folder.appending(path: name))
        let unfinished = folder.appending(path: "tmp.\(name)")
        try DurableFiles.write(try originText(name), to: unfinished, mode: 0o600)
        beforeNaming()
        try DurableFiles.rename(unfinished, to: folder.appending(path: Self.originTextName))
        try DurableFiles.sync(folder: folder)
    }

    private func originText(_ name: String) throws(DurableFiles.Failure) -> [UInt8] {
        Array("\(name) \(try FileOrigin.text(of: folder.appending(path: name)))".utf8)
    }

    /// The name that the text begins with: the prefix and 16 hexadecimal digits.
    private static func originName(in text: [UInt8]) -> String? {
        guard let word = String(strictUTF8: text)?.split(separator: " ").first, word.hasPrefix(originPrefix),
            Hex.decode(word.dropFirst(originPrefix.count))?.count == 8
        else { return nil }
        return String(word)
    }

    /// What those who began the ledger at once, and came second, have left; nobody's after a day.
    func removeForeignOrigins() {
        guard let text = try? DurableFiles.read(folder.appending(path: Self.originTextName), limit: 128),
            let own = Self.originName(in: text), let names = try? names()
        else { return }
        for name in names where name.hasPrefix(Self.originPrefix) && name != own && name != Self.originTextName {
            let file = folder.appending(path: name)
            if let age = DurableFiles.secondsUntouched(file), age > 86_400 { unlink(path(name)) }
        }
    }

    private func excludeFromBackup() {
        #if canImport(Darwin)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            var folder = folder
            try? folder.setResourceValues(values)
        #endif
    }

    private static let floorPrefix = "floor."
    private static let originPrefix = "origin."
    private static let originTextName = "origin.text"
    static let rotationMarker = "rotate"
}
