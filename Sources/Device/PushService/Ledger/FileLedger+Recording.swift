import Foundation
internal import PushCore
package import SealedPush

extension FileLedger: ReplayLedger {
    /// Specification 7.4: the floor, the entry, the floor again.
    package func record(_ entry: LedgerEntry, at now: Timestamp) throws(LedgerError) -> LedgerAnswer {
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
