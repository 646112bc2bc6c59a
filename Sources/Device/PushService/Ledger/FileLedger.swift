package import Foundation
internal import PushCore
package import SealedPush

/// The ledger as files: one per message, in one folder per day, without a lock that a suspended extension could hold. The
/// app and the extension may use the same folder in any number of processes, each of which may be killed at any moment.
/// Recording costs two syncs, a few milliseconds on a phone. Source: Specification 7; DeviceState 32.
package struct FileLedger: Sendable {
    let folder: URL

    /// - Parameter folder: The ledger's own folder; it need not exist yet.
    package init(folder: URL) { self.folder = folder }

    /// Returns the time at or before which content is refused; nil if the ledger is missing or was copied from elsewhere.
    package func floor() throws(LedgerError) -> Timestamp? { try floor(listing: names) }

    /// - Parameter names: Returns the names in the folder, read anew each time; replaced in tests.
    func floor(listing names: () throws(LedgerError) -> [String]?) throws(LedgerError) -> Timestamp? {
        // If the floor rises while a large folder is listed, the list may miss both files. The new one is made behind the
        // current position, and the old one is removed ahead of it. Then it would seem that no floor exists.
        for _ in 1...3 {
            guard let names = try names() else { return nil }
            do throws(DurableFiles.Failure) { guard try isOriginal() else { return nil } } catch { throw .unavailable }
            if let floor = Self.floor(in: names) { return floor }
        }
        return nil
    }

    /// Creates a missing ledger, or raises the floor of an existing one.
    package func begin(floor: Timestamp, asksForNewKey: Bool) throws(LedgerError) {
        do {
            // No message opens before the first unlock, so no entry is recorded then.
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

    /// Creates `floor.<seconds>` and removes lower ones. The floor never falls, even if several processes raise it at once.
    func raise(to floor: Timestamp) throws(DurableFiles.Failure) {
        try mark(Self.floorPrefix + String(floor.secondsSince1970))
        for name in try DurableFiles.names(in: folder) {
            guard let other = Self.floor(named: name), other < floor else { continue }
            unlink(path(name))
        }
    }

    /// Returns the names in the folder; nil if there is no folder.
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

    /// Parses digits without leading zeros, so that each number has only one name.
    static func decimal(_ text: String) -> Int64? {
        guard let value = Int64(text), value >= 0, String(value) == text else { return nil }
        return value
    }

    private func mark(_ name: String) throws(DurableFiles.Failure) {
        if try DurableFiles.create(folder.appending(path: name), holding: [], staging: folder) { return }
        // Its creator may have been killed before making the file durable.
        try DurableFiles.sync(folder: folder)
    }

    /// Whether this is the ledger that was begun, not a copy of it. A ledger that can't be read at the moment (a locked
    /// phone, no free descriptor, a failing disk) isn't missing; this throws instead. Treating it as lost would lose the
    /// message and force a new key. Source: DeviceState 32.5.
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

    /// Renews an invalid origin. Two processes may do this at once: each makes its own file, and the text that remains
    /// names the file it was made from. `beforeNaming` runs at the worst moment for interference; for tests.
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

    /// Returns the name at the start of the text: the prefix and 16 hexadecimal digits.
    private static func originName(in text: [UInt8]) -> String? {
        guard let word = String(strictUTF8: text)?.split(separator: " ").first, word.hasPrefix(originPrefix),
            Hex.decode(word.dropFirst(originPrefix.count))?.count == 8
        else { return nil }
        return String(word)
    }

    /// Removes, after a day, files left by processes that began the ledger at the same time but finished second.
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
    /// DeviceState 32.1: checks the floor, makes the entry, and checks the floor again.
    package func record(_ entry: LedgerEntry, at now: Timestamp) throws(LedgerError) -> LedgerAnswer {
        try record(entry, at: now) {}
    }

    /// - Parameter afterReserving: Runs at the worst moment for another process's purge; for tests.
    func record(
        _ entry: LedgerEntry, at now: Timestamp, afterReserving: () -> Void
    ) throws(LedgerError) -> LedgerAnswer {
        try checkFloor(entry, at: now)
        let answer = try reserve(entry)
        afterReserving()
        // A purge raises the floor before it removes entries, so this check fails if it removed this entry.
        try checkFloor(entry, at: now)
        return answer
    }

    private func checkFloor(_ entry: LedgerEntry, at now: Timestamp) throws(LedgerError) {
        if let floor = try floor() {
            guard entry.sent > floor else { throw .replayed }
            return
        }
        // DeviceState 32.5: there is no record of messages opened before.
        try begin(floor: now, asksForNewKey: true)
        guard let floor = try floor(), entry.sent > floor else { throw .replayed }
    }

    /// Makes the entry, or finds one made by an earlier open under the same request identifier.
    private func reserve(_ entry: LedgerEntry) throws(LedgerError) -> LedgerAnswer {
        let dayFolder = folder.appending(path: Self.dayName(entry.sent))
        let file = dayFolder.appending(path: Self.entryName(entry))
        let identifier = BLAKE2b.hash(Array(entry.requestIdentifier.utf8), byteCount: 32)
        let bytes = Array(Hex.encode(identifier).utf8) + [UInt8(ascii: "\n")]
        // Look first: a repeat needs no disk space, and none of the calls that fail on a full disk.
        if try isThere(file, holding: bytes) { return .repeated }
        if try create(file, holding: bytes) { return .first }
        // Another process got there first, or a purge, which left a floor above the message.
        guard try isThere(file, holding: bytes) else { throw .replayed }
        return .repeated
    }

    /// Whether an earlier open under the same request identifier made the entry. Throws `unavailable` if it can't be read.
    private func isThere(_ file: URL, holding bytes: [UInt8]) throws(LedgerError) -> Bool {
        let seen: [UInt8]
        do throws(DurableFiles.Failure) {
            seen = try DurableFiles.read(file, limit: bytes.count + 1)
        } catch {
            guard error.code == ENOENT else { throw .unavailable }
            return false
        }
        guard seen == bytes else { throw .replayed }
        // Its creator may have been killed before making the entry durable. If it can't be synced now, showing the text
        // matters more than preventing an audible repeat.
        try? DurableFiles.sync(folder: file.deletingLastPathComponent())
        return true
    }

    /// Creates the file; tries again if a purge removes the day's folder meanwhile.
    private func create(_ file: URL, holding bytes: [UInt8]) throws(LedgerError) -> Bool {
        for _ in 1...3 {
            do throws(DurableFiles.Failure) {
                let dayFolder = file.deletingLastPathComponent()
                try DurableFiles.ensureFolder(dayFolder)
                // Its creator may have been killed before making the folder durable.
                if try DurableFiles.isEmpty(folder: dayFolder) { try DurableFiles.sync(folder: folder) }
                return try DurableFiles.create(file, holding: bytes, staging: folder)
            } catch {
                guard error.code == ENOENT else { throw .unavailable }
            }
        }
        throw .unavailable
    }

    static func dayName(_ sent: Timestamp) -> String { String(sent.secondsSince1970 / 86_400) }

    /// `<sent>-<key>`: a purge reads the time from the name.
    private static func entryName(_ entry: LedgerEntry) -> String {
        "\(entry.sent.secondsSince1970)-\(Hex.encode(entry.key))"
    }
}

extension FileLedger {
    /// Drops entries that are older than 30 days and, beyond 20,000 entries, the oldest; raises the floor first, durably.
    /// Works day by day, oldest first, so that it makes progress however often it's interrupted. Entries left over are at
    /// or below the floor, and are dropped next time. Source: DeviceState 32.4.
    package func purge(at now: Timestamp) {
        // The current floor must survive a power loss before the entries below it are removed.
        guard let names = try? names(), var floor = try? floor(), (try? DurableFiles.sync(folder: folder)) != nil
        else { return }
        let oldest = now.advanced(bySeconds: -TimeRules.maximumAge)
        var kept: [Entry] = []
        let days = names.compactMap(Self.decimal).sorted()
        for day in days {
            let entries = entries(inDay: String(day)).sorted { $0.sent < $1.sent }
            if let last = entries.last(where: { $0.sent < oldest }), last.sent > floor {
                guard (try? raise(to: last.sent)) != nil else { return }
                floor = last.sent
            }
            remove(entries, upTo: floor)
            kept += entries.filter { $0.sent > floor }
        }
        // Only days that lie below the floor as a whole: in another day's folder, a process may be about to record a message,
        // and a folder that is made again isn't durable yet. Fails for a folder that isn't empty, as intended.
        for day in days where (floor.secondsSince1970 + 1) / 86_400 > day { rmdir(path(String(day))) }
        let excess = kept.count - LedgerLimits.maximumEntryCount
        if excess > 0, (try? raise(to: kept[excess - 1].sent)) != nil { remove(kept, upTo: kept[excess - 1].sent) }
        DurableFiles.removeUnfinished(in: folder, untouchedFor: 86_400)
        removeForeignOrigins()
    }

    private typealias Entry = (sent: Timestamp, path: String)

    private func remove(_ entries: [Entry], upTo floor: Timestamp) {
        for entry in entries where entry.sent <= floor { unlink(path(entry.path)) }
    }

    /// Returns the files that are named like entries, ignoring others.
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

    /// Whether the text is 64 hexadecimal digits.
    private static func isKey(_ text: Substring) -> Bool { text.utf8.count == 64 && Hex.decode(text) != nil }
}

extension FileLedger {
    /// Begins the ledger of a new installation before the device's first key is made, because a ledger that is found
    /// missing later counts as lost (DeviceState 32.5 and 32.7). Does nothing if the ledger exists.
    static func begin(
        in container: SharedContainer, environment: DeviceEnvironment, at now: Timestamp
    ) throws(DeviceError) {
        guard let ledger = environment.folder(container).map(FileLedger.init(in:)) else { throw .noContainer }
        do {
            guard try ledger.floor() == nil else { return }
            try ledger.begin(floor: now.advanced(bySeconds: -1), asksForNewKey: false)
        } catch { throw .noLedger }
    }

    /// - Parameter root: The folder `SealedPush` of the shared container.
    package init(in root: URL) { self.init(folder: root.appending(path: Self.folderName, directoryHint: .isDirectory)) }

    /// Whether the ledger is missing or a copy; false if it can't be read at the moment.
    var isMissing: Bool { do throws(LedgerError) { return try floor() == nil } catch { return false } }

    package static let folderName = "ledger"

    /// Removes the request for a new key, durably.
    func newKeyWasMade() {
        unlink(path(Self.rotationMarker))
        try? DurableFiles.sync(folder: folder)
    }
}

/// The properties that tell a file from a copy of it, and that programs can't set: its inode and its creation time. They
/// reveal a ledger that was restored from an older copy. On Linux, Swift doesn't expose the creation time, so the time of
/// the last status change takes its place; the file is never touched again. Source: DeviceState 32.2, `origin`.
enum FileOrigin {
    /// Returns "inode seconds.nanoseconds" and a newline.
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

/// Remembers which messages were opened, so that none opens twice. Source: Specification 7; DeviceState 32.
protocol ReplayLedger: Sendable {
    /// Records a message before it's shown; durable on return.
    func record(_ entry: LedgerEntry, at now: Timestamp) throws(LedgerError) -> LedgerAnswer
    /// Removes entries that the time rules make unnecessary. May take long, and may be interrupted at any moment.
    func purge(at now: Timestamp)
}
