import Foundation
package import SealedPush

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension FileLedger {
    /// Drops what is older than 30 days, and beyond 20,000 entries the oldest; raises the floor first, durably.
    ///
    /// May be cut off at any moment: what is then left over lies at or below the floor, and goes next time.
    /// Source: Specification 7.8.
    package func purge(at now: Timestamp) {
        guard let names = try? names() else { return }
        var entries = names.filter { Int64($0) != nil }.flatMap(entries(inDay:))
        entries.sort { $0.sent < $1.sent }
        let oldest = now.advanced(bySeconds: -TimeRules.maximumAge)
        let agedCount = entries.prefix { $0.sent < oldest }.count
        let droppedCount = max(agedCount, entries.count - LedgerLimits.maximumEntryCount)
        if droppedCount > 0 {
            guard (try? raise(to: entries[droppedCount - 1].sent)) != nil else { return }
        }
        guard let floor = try? floor() else { return }
        for entry in entries.prefix(while: { $0.sent <= floor }) { unlink(path(entry.path)) }
        // Fails for a folder that is not empty, as it should.
        for day in names where Int64(day) != nil { rmdir(path(day)) }
        removeUnfinished(names, at: now)
    }

    private func entries(inDay day: String) -> [(sent: Timestamp, path: String)] {
        let names = (try? DurableFiles.names(in: folder.appending(path: day))) ?? []
        return names.compactMap { name in
            guard let sent = name.split(separator: "-").first.flatMap({ Int64($0) }),
                let moment = Timestamp(secondsSince1970: sent)
            else { return nil }
            return (moment, "\(day)/\(name)")
        }
    }

    /// Files that a killed process left behind, a day later.
    private func removeUnfinished(_ names: [String], at now: Timestamp) {
        for name in names where name.hasPrefix("tmp.") {
            var status = stat()
            guard stat(path(name), &status) == 0 else { continue }
            #if canImport(Darwin)
                let modified = Int64(status.st_mtimespec.tv_sec)
            #else
                let modified = Int64(status.st_mtim.tv_sec)
            #endif
            if now.secondsSince1970 - modified > 86_400 { unlink(path(name)) }
        }
    }
}
