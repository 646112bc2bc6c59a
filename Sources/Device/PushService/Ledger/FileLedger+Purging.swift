import Foundation
internal import PushCore
package import SealedPush

extension FileLedger {
    /// Drops what is older than 30 days, and beyond 20,000 entries the oldest; raises the floor first, durably.
    ///
    /// Goes day by day, the oldest first, so that it makes progress however often it is cut off; what is then left over
    /// lies at or below the floor, and goes next time. Source: Specification 7.8.
    package func purge(at now: Timestamp) {
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
