import Foundation
import PushCore
import PushServiceTesting
import SealedPush
import TestSupport
import Testing

@testable import PushService

@Suite("The ledger") struct FileLedgerTests {
    private let folder: TemporaryFolder
    private let now = Timestamp.now()

    init() throws { folder = try TemporaryFolder() }

    private var ledger: FileLedger { FileLedger(folder: folder.appending("ledger")) }

    private func begun() throws -> FileLedger {
        try ledger.begin(floor: now.advanced(bySeconds: -40 * 86_400), asksForNewKey: false)
        return ledger
    }

    private func entry(_ number: Int, sent: Timestamp? = nil, identifier: String = "one") -> LedgerEntry {
        LedgerEntry(
            key: BLAKE2b.hash(Array("\(number)".utf8), byteCount: 32), sent: sent ?? now, requestIdentifier: identifier)
    }

    @Test("A message opens again only under the identifier under which it first opened")
    func answers() throws {
        let ledger = try begun()
        #expect(try ledger.record(entry(1), at: now) == .first)
        for _ in 2...100 { #expect(try ledger.record(entry(1), at: now) == .repeated) }
        let day = folder.appending("ledger").appending(path: FileLedger.dayName(now))
        #expect(try DurableFiles.names(in: day).count == 1, "a repeat must not write to the disk")
        #expect(throws: LedgerError.replayed) { try ledger.record(entry(1, identifier: "two"), at: now) }
        #expect(try ledger.record(entry(2, identifier: "two"), at: now) == .first)
    }

    @Test("Files and memory give the same answers to any sequence of operations") func agreement() throws {
        var random = SeededGenerator()
        let ledger = try begun()
        let memory = InMemoryLedger(floor: now.advanced(bySeconds: -40 * 86_400))
        for step in 0..<400 {
            let number = Int.random(in: 0..<40, using: &random)
            // Each message always has the same time.
            let sent = now.advanced(bySeconds: Int64(-number) * 86_400)
            let entry = entry(number, sent: sent, identifier: ["a", "b"].randomElement(using: &random) ?? "a")
            let moment = now.advanced(bySeconds: Int64(step) * 2_000)
            if Int.random(in: 0..<25, using: &random) == 0 {
                ledger.purge(at: moment)
                memory.purge(at: moment)
            }
            let first = Result { try ledger.record(entry, at: moment) }.mapError { $0 as? LedgerError ?? .unavailable }
            let second = Result { try memory.record(entry, at: moment) }.mapError { $0 as? LedgerError ?? .unavailable }
            #expect(first == second, "step \(step), message \(number)")
        }
    }

    @Test("Content sent at the floor is refused; a second later, it opens") func floor() throws {
        try ledger.begin(floor: now, asksForNewKey: false)
        #expect(throws: LedgerError.replayed) { try ledger.record(entry(1, sent: now), at: now) }
        #expect(try ledger.record(entry(1, sent: now.advanced(bySeconds: 1)), at: now) == .first)
    }

    @Test("The floor only rises, whichever process raises it") func floorRises() throws {
        let ledger = try begun()
        DispatchQueue.concurrentPerform(iterations: 40) { number in
            let floor = now.advanced(bySeconds: Int64((number * 7) % 40))
            try? FileLedger(folder: folder.appending("ledger")).raise(to: floor)
        }
        #expect(try ledger.floor() == now.advanced(bySeconds: 39))
        try ledger.raise(to: now)
        #expect(try ledger.floor() == now.advanced(bySeconds: 39))
    }

    @Test("A missing ledger starts now and asks for a new key") func missing() throws {
        #expect(throws: LedgerError.replayed) { try ledger.record(entry(1), at: now) }
        #expect(ledger.asksForNewKey)
        #expect(try ledger.floor() == now)
        #expect(try ledger.record(entry(1, sent: now.advanced(bySeconds: 1)), at: now) == .first)
    }

    @Test("If many find the ledger missing at once, it is begun once and stays") func missingForMany() throws {
        for round in 0..<20 {
            let ledger = FileLedger(folder: folder.appending("ledger \(round)"))
            DispatchQueue.concurrentPerform(iterations: 8) { number in
                _ = try? ledger.record(entry(number, sent: now.advanced(bySeconds: 1)), at: now)
            }
            #expect(ledger.asksForNewKey)
            ledger.newKeyWasMade()
            #expect(try ledger.record(entry(9, sent: now.advanced(bySeconds: 1)), at: now) == .first)
            #expect(!ledger.asksForNewKey, "it would count as missing again")
        }
    }

    @Test("If two processes begin the ledger at once, it is valid whichever text remains")
    func begunAtOnce() throws {
        try ledger.begin(floor: now, asksForNewKey: false)
        try FileManager.default.removeItem(at: ledger.folder.appending(path: "origin.text"))
        let other = ledger
        try ledger.renewOrigin { try? other.begin(floor: now, asksForNewKey: false) }
        #expect(try ledger.floor() == now)
    }

    @Test("A ledger isn't missing if its floor rises during a listing and so isn't in the list")
    func floorInNoList() throws {
        let ledger = try begun()
        var listCount = 0
        let floor = try ledger.floor { () throws(LedgerError) in
            listCount += 1
            guard let names = try ledger.names() else { return nil }
            return names.filter { !$0.hasPrefix("floor.") || listCount == 3 }
        }
        #expect(floor == now.advanced(bySeconds: -40 * 86_400))
        #expect(try ledger.floor { () throws(LedgerError) in [] } == nil)
    }

    #if !canImport(Darwin)
    @Test("The origin tells files of the same time by inode, and times of the same file by their fractions")
    func origin() throws {
        func origin(_ name: String) throws -> [Substring] {
            try FileOrigin.text(of: folder.appending(name)).split(separator: " ")
        }
        var (hasOneTime, hasOneSecond) = (false, false)
        for number in 0..<200 where !hasOneTime || !hasOneSecond {
            let names = ["a\(number)", "b\(number)"]
            for name in names { _ = fopen(folder.appending(name).path, "w").map(fclose) }
            let (first, second) = (try origin(names[0]), try origin(names[1]))
            #expect(first[0] != second[0])
            hasOneTime = hasOneTime || first[1] == second[1]
            // Now with another time.
            usleep(5_000)
            #expect(chmod(folder.appending(names[0]).path, 0o600) == 0)
            let again = try origin(names[0])
            #expect(first[0] == again[0])
            var status = stat()
            #expect(stat(folder.appending(names[0]).path, &status) == 0)
            #expect(again[1].hasPrefix("\(status.st_ctim.tv_sec)."))
            guard first[1] != again[1] else { continue }
            hasOneSecond = hasOneSecond || first[1].prefix { $0 != "." } == again[1].prefix { $0 != "." }
        }
        #expect(hasOneTime && hasOneSecond)
    }
    #endif

    @Test("Of two processes that began the ledger, only the second one's files are removed, after a day")
    func foreignOrigins() throws {
        let ledger = try begun()
        let foreign = ledger.folder.appending(path: "origin.0123456789abcdef")
        _ = FileManager.default.createFile(atPath: foreign.path, contents: Data())
        let before = try DurableFiles.names(in: ledger.folder)
        ledger.purge(at: now)
        #expect(try Set(DurableFiles.names(in: ledger.folder)) == Set(before))
        try FileManager.default.setAttributes(
            [.modificationDate: Date.now.addingTimeInterval(-100_000)], ofItemAtPath: foreign.path)
        ledger.purge(at: now)
        #expect(try Set(DurableFiles.names(in: ledger.folder)) == Set(before).subtracting([foreign.lastPathComponent]))
        #expect(try ledger.floor() != nil)
    }

    @Test("A ledger restored from an older copy counts as missing, so forgotten messages don't open again")
    func restored() throws {
        let ledger = try begun()
        _ = try ledger.record(entry(1), at: now)
        let copy = folder.appending("copy")
        try FileManager.default.copyItem(at: ledger.folder, to: copy)
        _ = try ledger.record(entry(2), at: now)
        try FileManager.default.removeItem(at: ledger.folder)
        try FileManager.default.moveItem(at: copy, to: ledger.folder)
        #expect(throws: LedgerError.replayed) { try ledger.record(entry(2), at: now) }
        #expect(ledger.asksForNewKey)
        #expect(try ledger.record(entry(3, sent: now.advanced(bySeconds: 1)), at: now) == .first)
    }

    @Test("A ledger that was moved as a whole is still the original") func moved() throws {
        let ledger = try begun()
        _ = try ledger.record(entry(1), at: now)
        let elsewhere = folder.appending("elsewhere")
        try FileManager.default.moveItem(at: ledger.folder, to: elsewhere)
        let moved = FileLedger(folder: elsewhere)
        #expect(try moved.record(entry(2), at: now) == .first)
        #expect(!moved.asksForNewKey)
    }

    @Test("A purge drops only entries older than 30 days, and lets no message open again")
    func purgeByAge() throws {
        let ledger = try begun()
        func sent(_ day: Int) -> Timestamp { now.advanced(bySeconds: Int64(-day) * 86_400) }
        let tooOld = sent(30).advanced(bySeconds: -1)
        for day in 0..<35 { _ = try ledger.record(entry(day, sent: sent(day)), at: now) }
        _ = try ledger.record(entry(99, sent: tooOld), at: now)
        ledger.purge(at: now)
        #expect(try ledger.floor() == tooOld)
        #expect(try ledger.record(entry(30, sent: sent(30)), at: now) == .repeated)
        #expect(throws: LedgerError.replayed) { try ledger.record(entry(99, sent: tooOld), at: now) }
        for day in 0..<35 {
            #expect(throws: LedgerError.replayed) {
                try ledger.record(entry(day, sent: sent(day), identifier: "two"), at: now)
            }
        }
        let days = try DurableFiles.names(in: ledger.folder).filter { Int64($0) != nil }
        #expect(days.count == 31)
    }

    @Test("A purge removes a day's empty folder only once the whole day lies at or below the floor")
    func purgeKeepsOpenDays() throws {
        let ledger = try begun()
        let day = now.secondsSince1970 / 86_400 - 30
        let end = try #require(Timestamp(secondsSince1970: (day + 1) * 86_400 - 1))
        for day in [day - 1, day, day + 1] { try DurableFiles.ensureFolder(ledger.folder.appending(path: "\(day)")) }
        func days() throws -> [Int64] { try DurableFiles.names(in: ledger.folder).compactMap { Int64($0) }.sorted() }
        try ledger.raise(to: end.advanced(bySeconds: -1))
        ledger.purge(at: now)
        #expect(try days() == [day, day + 1])
        try ledger.raise(to: end)
        ledger.purge(at: now)
        #expect(try days() == [day + 1])
    }

    /// Entries of more than a day. The five from the first second are dropped together.
    @Test("Beyond 20,000 entries, the oldest go first, and are at or below the floor", arguments: [20_001, 20_005])
    func purgeByCount(count: Int) throws {
        let ledger = try begun()
        // Links to one empty file, because 20,000 files and syncs would only test the disk.
        let empty = try folder.write("", to: "empty")
        let sent = (0..<count).map { now.advanced(bySeconds: 20 * (Int64($0 % 5_000) - 5_000)) }
        for (number, moment) in sent.enumerated() {
            let day = ledger.folder.appending(path: FileLedger.dayName(moment))
            if !FileManager.default.fileExists(atPath: day.path) {
                try FileManager.default.createDirectory(at: day, withIntermediateDirectories: true)
            }
            let key = Hex.encode(entry(number).key)
            #expect(link(empty, day.appending(path: "\(moment.secondsSince1970)-\(key)").path) == 0)
        }
        ledger.purge(at: now)
        let floor = try #require(try ledger.floor())
        #expect(floor == now.advanced(bySeconds: -100_000))
        let kept = try DurableFiles.names(in: ledger.folder).filter { Int64($0) != nil }.flatMap {
            try DurableFiles.names(in: ledger.folder.appending(path: $0))
        }
        #expect(kept.count == count - 5)
        #expect(throws: LedgerError.replayed) { try ledger.record(entry(0, sent: sent[0]), at: now) }
        #expect(throws: LedgerError.replayed) {
            try ledger.record(entry(4_000, sent: sent[4_000], identifier: "two"), at: now)
        }
    }

    @Test("No message opens twice while one thread purges and others record") func purgeRace() throws {
        let ledger = try begun()
        let old = now.advanced(bySeconds: -30 * 86_400 - 1)
        for round in 0..<20 {
            let firsts = Locked(0)
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                if thread == 0 {
                    ledger.purge(at: now)
                } else {
                    for _ in 0..<5 {
                        let entry = entry(round, sent: old.advanced(bySeconds: Int64(round)), identifier: "\(thread)")
                        if (try? ledger.record(entry, at: now)) != nil { firsts.withLock { $0 += 1 } }
                    }
                }
            }
            #expect(firsts.withLock { $0 } <= 5)
            let opened = Locked(0)
            for identifier in 1...3 {
                let entry = entry(round, sent: old.advanced(bySeconds: Int64(round)), identifier: "new \(identifier)")
                if (try? ledger.record(entry, at: now)) != nil { opened.withLock { $0 += 1 } }
            }
            #expect(opened.withLock { $0 } + min(1, firsts.withLock { $0 }) <= 1)
        }
    }

    @Test("A purge between making the entry and the last check of the floor lets no message through")
    func purgeInBetween() throws {
        let ledger = try begun()
        #expect(throws: LedgerError.replayed) {
            try ledger.record(entry(1), at: now) { try? ledger.raise(to: now) }
        }
        #expect(throws: LedgerError.replayed) { try ledger.record(entry(1, identifier: "two"), at: now) }
    }

    @Test("A day's folder that disappears before the entry is made is made again") func folderTakenAway() throws {
        let ledger = try begun()
        for round in 0..<30 {
            let sent = now.advanced(bySeconds: Int64(-round) * 86_400)
            let day = folder.appending("ledger").appending(path: FileLedger.dayName(sent)).path
            let (isOver, hasBegun, hasEnded) = (Locked(false), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            Thread.detachNewThread {
                hasBegun.signal()
                // Once, as a purge does.
                while rmdir(day) != 0, !isOver.withLock(\.self) {}
                hasEnded.signal()
            }
            hasBegun.wait()
            defer {
                isOver.withLock { $0 = true }
                hasEnded.wait()
            }
            #expect(try ledger.record(entry(round, sent: sent), at: now) == .first)
        }
    }

    @Test("If many threads open a message under different identifiers, only one succeeds") func oneWins() throws {
        let ledger = try begun()
        for number in 0..<30 {
            let firsts = Locked(0)
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                let answer = try? ledger.record(entry(number, identifier: "\(thread)"), at: now)
                if answer == .first { firsts.withLock { $0 += 1 } }
            }
            #expect(firsts.withLock { $0 } == 1)
        }
    }

    @Test("Names that resemble the ledger's are left alone and have no effect") func strangeNames() throws {
        let ledger = try begun()
        for name in ["floor.+99999999999", "floor.099999999999", "floor.-1", "floor.x", "floor."] {
            try Data().write(to: ledger.folder.appending(path: name))
        }
        for day in ["-7", "+8", "007", "20700"] {
            let folder = ledger.folder.appending(path: day)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        try Data().write(to: ledger.folder.appending(path: "20700/5-notours"))
        #expect(try ledger.record(entry(1), at: now) == .first)
        ledger.purge(at: now)
        let names = try DurableFiles.names(in: ledger.folder)
        #expect(Set(names).isSuperset(of: ["floor.+99999999999", "-7", "+8", "007", "20700"]))
        #expect(try DurableFiles.names(in: ledger.folder.appending(path: "20700")) == ["5-notours"])
        #expect(try ledger.record(entry(2), at: now) == .first)
    }

    @Test("Unfinished files of killed processes are removed after a day; foreign files stay")
    func leftovers() throws {
        let ledger = try begun()
        try Data().write(to: ledger.folder.appending(path: "tmp.x"))
        try Data().write(to: ledger.folder.appending(path: "strange"))
        let day = ledger.folder.appending(path: "1")
        try FileManager.default.createDirectory(at: day, withIntermediateDirectories: false)
        try Data().write(to: day.appending(path: "86400-ab"))
        ledger.purge(at: now)
        #expect(FileManager.default.fileExists(atPath: ledger.path("tmp.x")))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -90_000)], ofItemAtPath: ledger.path("tmp.x"))
        ledger.purge(at: now)
        #expect(!FileManager.default.fileExists(atPath: ledger.path("tmp.x")))
        for name in ["strange", "1/86400-ab"] { #expect(FileManager.default.fileExists(atPath: ledger.path(name))) }
        #expect(try ledger.record(entry(1), at: now) == .first)
    }

    @Test("A damaged entry counts as another request's, so the message doesn't open again") func damaged() throws {
        let ledger = try begun()
        _ = try ledger.record(entry(1), at: now)
        let day = ledger.folder.appending(path: FileLedger.dayName(now))
        let name = try #require(try DurableFiles.names(in: day).first)
        for damage in [Data(), Data("zz".utf8), Data(repeating: 0, count: 65)] {
            try damage.write(to: day.appending(path: name))
            #expect(throws: LedgerError.replayed) { try ledger.record(entry(1), at: now) }
        }
    }

    @Test("The origin stays if the ledger is begun again, however old it is, and if it can't be read")
    func originStays() throws {
        let ledger = try begun()
        func origins() throws -> Set<String> {
            Set(try DurableFiles.names(in: ledger.folder).filter { $0.hasPrefix("origin.") })
        }
        let before = try origins()
        #expect(before.count == 2)
        _ = try begun()
        #expect(try origins() == before)
        let text = ledger.folder.appending(path: "origin.text")
        let own = try #require(before.first { $0 != text.lastPathComponent })
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -90_000)], ofItemAtPath: ledger.path(own))
        ledger.removeForeignOrigins()
        #expect(try origins() == before)
    }

    /// It doesn't count as lost. To repair it, remove the whole folder.
    @Test(
        "If another object takes a file's place, the ledger stays unavailable and unchanged until it is removed",
        arguments: ["folder", "pipe"], ["origin.text", "entry"])
    func noFile(kind: String, name: String) throws {
        let ledger = try begun()
        #expect(try ledger.record(entry(1), at: now) == .first)
        let names = { try FileManager.default.subpathsOfDirectory(atPath: ledger.folder.path).sorted() }
        let before = try names()
        let place = try #require(before.first { name == "entry" ? $0.contains("/") : $0 == name })
        try FileManager.default.removeItem(at: ledger.folder.appending(path: place))
        if kind == "folder" {
            try FileManager.default.createDirectory(
                at: ledger.folder.appending(path: place), withIntermediateDirectories: false)
        } else {
            #expect(mkfifo(ledger.path(place), 0o600) == 0)
        }
        for _ in 0..<3 {
            #expect(throws: LedgerError.unavailable) { try ledger.record(entry(1), at: now) }
            #expect(!ledger.isMissing && !ledger.asksForNewKey)
        }
        ledger.purge(at: now)
        #expect(try names() == before)
        try FileManager.default.removeItem(at: ledger.folder)
        #expect(throws: LedgerError.replayed) { try ledger.record(entry(1), at: now) }
        #expect(try ledger.record(entry(2, sent: now.advanced(bySeconds: 1)), at: now) == .first)
        #expect(ledger.asksForNewKey)
    }

    @Test("A foreign object in an entry's place is neither a first open nor a repeat") func foreignEntry() throws {
        let ledger = try begun()
        let entry = entry(1)
        let day = ledger.folder.appending(path: FileLedger.dayName(now))
        try FileManager.default.createDirectory(at: day, withIntermediateDirectories: true)
        // A dangling link: no entry can be read or made there.
        try FileManager.default.createSymbolicLink(
            at: day.appending(path: "\(now.secondsSince1970)-\(Hex.encode(entry.key))"),
            withDestinationURL: folder.appending("nothing"))
        #expect(throws: LedgerError.replayed) { try ledger.record(entry, at: now) }
        // An entry that can't be read now may be readable later.
        let other = self.entry(2)
        try FileManager.default.createDirectory(
            at: day.appending(path: "\(now.secondsSince1970)-\(Hex.encode(other.key))"),
            withIntermediateDirectories: false)
        #expect(throws: LedgerError.unavailable) { try ledger.record(other, at: now) }
    }

    @Test("An entry that can't be written is unavailable, and may be recorded later") func unwritable() throws {
        let file = try folder.write("", to: "file")
        let ledger = FileLedger(folder: URL(filePath: file).appending(path: "ledger"))
        #expect(throws: LedgerError.unavailable) { try ledger.record(entry(1), at: now) }
        #expect(throws: LedgerError.unavailable) { try ledger.floor() }
        #expect(!ledger.isMissing, "the app would make a new key")
    }

    @Test("The app begins a new installation's ledger once, dated just before now") func begin() throws {
        let environment = DeviceEnvironment(
            keychain: { _ in InMemorySecretItems() }, appGroup: { [folder] _ in folder.url })
        let container = SharedContainer.appGroup("group.com.example")
        let began = Timestamp.now()
        try FileLedger.begin(in: container, environment: environment, at: began)
        let ledger = FileLedger(in: folder.appending("SealedPush"))
        let floor = try #require(try ledger.floor())
        #expect((1...3).contains(began.seconds(since: floor)))
        #expect(!ledger.asksForNewKey)
        try FileLedger.begin(in: container, environment: environment, at: began.advanced(bySeconds: 50))
        #expect(try ledger.floor() == floor)
        try ledger.raise(to: now.advanced(bySeconds: 100))
        try FileLedger.begin(in: container, environment: environment, at: .now())
        #expect(try ledger.floor() == now.advanced(bySeconds: 100))
        let nowhere = DeviceEnvironment(keychain: { _ in InMemorySecretItems() }, appGroup: { _ in nil })
        #expect(throws: DeviceError.noContainer) {
            try FileLedger.begin(in: container, environment: nowhere, at: .now())
        }
    }
}
