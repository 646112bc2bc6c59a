package import Foundation
internal import PushCore
package import SealedPush

/// The ledger in files: one a message, in a folder a day; no lock that a suspended extension could hold.
///
/// App and extension may use one folder at once, in any number of processes, and each may be killed at any moment.
/// Recording costs two syncs, a few milliseconds on a phone. Source: Specification 7.
package struct FileLedger: Sendable {
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
            do throws(DurableFiles.Failure) { guard try isOriginal() else { return nil } } catch { throw .unavailable }
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
        } catch { throw .unavailable }
    }

    /// Whether the ledger was found missing, so that the app should make a new key.
    package var asksForNewKey: Bool { FileManager.default.fileExists(atPath: path(Self.rotationMarker)) }

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

extension FileLedger: ReplayLedger {
    /// Specification 7.4: the floor, the entry, the floor again.
    func record(_ entry: LedgerEntry, at now: Timestamp) throws(LedgerError) -> LedgerAnswer {
        try record(entry, at: now) {}
    }

    /// - Parameter afterReserving: runs where another process's purge would hurt most; for tests.
    func record(
        _ entry: LedgerEntry, at now: Timestamp, afterReserving: () -> Void
    ) throws(LedgerError) -> LedgerAnswer {
        try checkFloor(entry, at: now)
        let answer = try reserve(entry)
        afterReserving()
        // A purge raises the floor before it removes entries: had it removed this one's, this would show it.
        try checkFloor(entry, at: now)
        return answer
    }

    private func checkFloor(_ entry: LedgerEntry, at now: Timestamp) throws(LedgerError) {
        if let floor = try floor() {
            guard entry.sent > floor else { throw .replayed }
            return
        }
        // Specification 7.9: nobody knows what was opened before.
        try begin(floor: now, asksForNewKey: true)
        guard let floor = try floor(), entry.sent > floor else { throw .replayed }
    }

    /// Makes the entry, or finds it made by an earlier open under the same request identifier.
    private func reserve(_ entry: LedgerEntry) throws(LedgerError) -> LedgerAnswer {
        let dayFolder = folder.appending(path: Self.dayName(entry.sent))
        let file = dayFolder.appending(path: Self.entryName(entry))
        let identifier = BLAKE2b.hash(Array(entry.requestIdentifier.utf8), byteCount: 32)
        let bytes = Array(Hex.encode(identifier).utf8) + [UInt8(ascii: "\n")]
        // First of all a look: a repeat needs no room on the disk, and none of the calls that a full one refuses.
        if try isThere(file, holding: bytes) { return .repeated }
        if try create(file, holding: bytes) { return .first }
        // Another process was faster; or a purge, whose floor then lies above the message.
        guard try isThere(file, holding: bytes) else { throw .replayed }
        return .repeated
    }

    /// Whether an earlier open under the same request identifier made the entry. One that can't be read at the moment is
    /// nobody's yet.
    private func isThere(_ file: URL, holding bytes: [UInt8]) throws(LedgerError) -> Bool {
        let seen: [UInt8]
        do throws(DurableFiles.Failure) {
            seen = try DurableFiles.read(file, limit: bytes.count + 1)
        } catch {
            guard error.code == ENOENT else { throw .unavailable }
            return false
        }
        guard seen == bytes else { throw .replayed }
        // Who made it may have been killed before it would outlast the power. Where that can't be mended now, the text
        // that is on the screen weighs more than a repeat that would ring.
        try? DurableFiles.sync(folder: file.deletingLastPathComponent())
        return true
    }

    /// A purge may take the day's folder away at any moment: then once more.
    private func create(_ file: URL, holding bytes: [UInt8]) throws(LedgerError) -> Bool {
        for _ in 1...3 {
            do throws(DurableFiles.Failure) {
                let dayFolder = file.deletingLastPathComponent()
                try DurableFiles.ensureFolder(dayFolder)
                // Who made the folder may have been killed before it would outlast the power.
                if try DurableFiles.isEmpty(folder: dayFolder) { try DurableFiles.sync(folder: folder) }
                return try DurableFiles.create(file, holding: bytes, staging: folder)
            } catch {
                guard error.code == ENOENT else { throw .unavailable }
            }
        }
        throw .unavailable
    }

    static func dayName(_ sent: Timestamp) -> String { String(sent.secondsSince1970 / 86_400) }

    /// `<sent>-<key>`: a purge reads the time off the name.
    private static func entryName(_ entry: LedgerEntry) -> String {
        "\(entry.sent.secondsSince1970)-\(Hex.encode(entry.key))"
    }
}

extension FileLedger {
    /// Drops what is older than 30 days, and beyond 20,000 entries the oldest; raises the floor first, durably.
    ///
    /// Goes day by day, the oldest first, so that it makes progress however often it is cut off; what is then left over
    /// lies at or below the floor, and goes next time. Source: Specification 7.8.
    func purge(at now: Timestamp) {
        // The floor that is there must outlast the power before what lies below it goes.
        guard let names = try? names(), var floor = try? floor(), (try? DurableFiles.sync(folder: folder)) != nil
        else { return }
        let oldest = now.advanced(bySeconds: -TimeRules.maximumAge)
        var kept: [Entry] = []
        for day in names.compactMap(Self.decimal).sorted() {
            let entries = entries(inDay: String(day)).sorted { $0.sent < $1.sent }
            if let last = entries.last(where: { $0.sent < oldest }), last.sent > floor {
                guard (try? raise(to: last.sent)) != nil else { return }
                floor = last.sent
            }
            remove(entries, upTo: floor)
            kept += entries.filter { $0.sent > floor }
            // Fails for a folder that is not empty, as it should.
            rmdir(path(String(day)))
        }
        let excess = kept.count - LedgerLimits.maximumEntryCount
        if excess > 0, (try? raise(to: kept[excess - 1].sent)) != nil { remove(kept, upTo: kept[excess - 1].sent) }
        DurableFiles.removeUnfinished(in: folder, untouchedFor: 86_400)
        removeForeignOrigins()
    }

    private typealias Entry = (sent: Timestamp, path: String)

    private func remove(_ entries: [Entry], upTo floor: Timestamp) {
        for entry in entries where entry.sent <= floor { unlink(path(entry.path)) }
    }

    /// What is named as an entry is; other names are left alone.
    private func entries(inDay day: String) -> [Entry] {
        let names = (try? DurableFiles.names(in: folder.appending(path: day))) ?? []
        return names.compactMap { name in
            let parts = name.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, let sent = Self.decimal(String(parts[0])),
                let moment = Timestamp(secondsSince1970: sent), Self.isKey(parts[1])
            else { return nil }
            return (moment, "\(day)/\(name)")
        }
    }

    /// 64 hexadecimal digits.
    private static func isKey(_ text: Substring) -> Bool { text.utf8.count == 64 && Hex.decode(text) != nil }
}

extension FileLedger {
    /// Begins the ledger of a new installation, before the device's first key is made: a ledger that is found missing
    /// later counts as lost (Specification 7.9 and 7.11). Does nothing to a ledger that is there.
    static func begin(
        in container: SharedContainer, environment: DeviceEnvironment, at now: Timestamp
    ) throws(DeviceError) {
        guard let ledger = environment.folder(container).map(FileLedger.init(in:)) else { throw .noContainer }
        do {
            guard try ledger.floor() == nil else { return }
            try ledger.begin(floor: now.advanced(bySeconds: -1), asksForNewKey: false)
        } catch { throw .noLedger }
    }

    /// - Parameter root: the folder `SealedPush` of the shared container.
    package init(in root: URL) { self.init(folder: root.appending(path: Self.folderName, directoryHint: .isDirectory)) }

    /// Whether it is missing, or a copy. One that can't be read at the moment is neither.
    var isMissing: Bool { do throws(LedgerError) { return try floor() == nil } catch { return false } }

    package static let folderName = "ledger"

    /// Takes back the request for a new key, durably.
    func newKeyWasMade() {
        unlink(path(Self.rotationMarker))
        try? DurableFiles.sync(folder: folder)
    }
}

/// What a file has and a copy of it has not: its inode, and the time at which it was made.
///
/// So a ledger that was copied back from an older copy is known for what it is. Programs can't set either. On Linux,
/// where Swift sees no time of birth, the time of the last change of status stands for it: the file is never touched
/// again. Source: Specification 7.6, `origin`.
enum FileOrigin {
    /// "inode seconds.nanoseconds", and a newline.
    static func text(of file: URL) throws(DurableFiles.Failure) -> String {
        var status = stat()
        guard stat(file.path(percentEncoded: false), &status) == 0 else { throw DurableFiles.Failure(code: errno) }
        #if canImport(Darwin)
            let moment = status.st_birthtimespec
        #else
            let moment = status.st_ctim
        #endif
        let fraction = String(moment.tv_nsec)
        let zeros = String(repeating: "0", count: max(0, 9 - fraction.count))
        return "\(status.st_ino) \(moment.tv_sec).\(zeros)\(fraction)\n"
    }
}

/// Remembers what has been opened, so that nothing opens twice. Source: Specification 7.
protocol ReplayLedger: Sendable {
    /// Records a message before it is shown; durable when it returns.
    func record(_ entry: LedgerEntry, at now: Timestamp) throws(LedgerError) -> LedgerAnswer
    /// Forgets what the time rules refuse anyway; may take long, and may be cut off at any moment.
    func purge(at now: Timestamp)
}

struct LedgerEntry: Sendable {
    /// 32 bytes.
    let key: [UInt8]
    let sent: Timestamp
    /// Under what the system delivers it.
    let requestIdentifier: String
}

enum LedgerAnswer: Sendable {
    case first
    /// Seen before under the same request identifier: it replaces itself on the screen, silently.
    case repeated
}

package enum LedgerError: Error, Equatable, Sendable {
    case replayed
    /// It could not be written, or not in time.
    case unavailable
}

enum LedgerLimits {
    static let maximumEntryCount = 20_000
    /// What the time budget of a push leaves for writing when nothing else has taken any.
    static let writeTime = ServiceRun.timeBudget - timeAfterwards
    /// What a slow ledger leaves for the rest: while the content lies opened in memory, a write is worth waiting for.
    static let timeAfterwards = Duration.seconds(3)
}
