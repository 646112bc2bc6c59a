import Foundation
internal import PushCrypto
package import SealedPush

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

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
        if try create(file, holding: bytes) { return .first }
        try checkIdentifier(bytes, in: file)
        try sync(dayFolder)
        return .repeated
    }

    /// Who made the entry may have been killed before it would outlast the power.
    private func sync(_ dayFolder: URL) throws(LedgerError) {
        do throws(DurableFiles.Failure) {
            try DurableFiles.sync(folder: dayFolder)
        } catch {
            // A purge took it, and so raised the floor over the message.
            throw error.code == ENOENT ? .replayed : .unavailable
        }
    }

    /// An entry that can't be read at the moment is nobody's yet; one that was purged meanwhile lies below the floor.
    private func checkIdentifier(_ bytes: [UInt8], in file: URL) throws(LedgerError) {
        let seen: [UInt8]
        do throws(DurableFiles.Failure) {
            seen = try DurableFiles.read(file, limit: bytes.count + 1)
        } catch {
            throw error.code == ENOENT ? .replayed : .unavailable
        }
        guard seen == bytes else { throw .replayed }
    }

    /// A purge may take the day's folder away at any moment: then once more.
    private func create(_ file: URL, holding bytes: [UInt8]) throws(LedgerError) -> Bool {
        for _ in 1...3 {
            do throws(DurableFiles.Failure) {
                try DurableFiles.ensureFolder(file.deletingLastPathComponent())
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
