import Foundation
import GRDB
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

/// Tests an outbox whose file, folder, log, or log's index is replaced, moved, or deleted while a process uses it.
@Suite("An outbox file that is replaced while it is open") struct ReplacedFileTests {
    private let folder: TemporaryFolder
    private let time = FakeClock()

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            at: folder.appending("own"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    private var path: String { folder.appending("own/outbox.db").path }

    private static let sealer = Sealer(sender: SenderPrivateKey(), topic: Fixture.topic, safeDefault: "New")

    private func opened() async throws -> Outbox {
        let outbox = try Outbox(at: path, clock: time.clock)
        try await outbox.register(
            RegisteredDevice(
                name: "phone", user: "anna", topic: Fixture.topic, keys: .unverified(DevicePrivateKey().recipient),
                address: .active(Fixture.address("phone"), registered: Timestamp(clamping: time.now / 1_000))))
        return outbox
    }

    private func enqueue(in outbox: Outbox) async throws {
        try await outbox.enqueue(
            OutgoingMessage(Content(body: "Hello")), to: .device("phone"), from: Self.sealer, includingUnverified: true)
    }

    enum Change: String, CaseIterable, CustomStringConvertible {
        case deleted, renamed, restored
        case logDeleted, logReplaced, indexDeleted, indexReplaced
        case folderRenamed, folderReplaced, folderDeleted

        var description: String { rawValue }

        /// Makes the change, and returns the file that is reported.
        func make(of path: String, in folder: URL) throws -> String {
            let files = FileManager.default
            let away = folder.appending(path: "away").path
            let own = (path as NSString).deletingLastPathComponent
            let suffix =
                switch self {
                case .logDeleted, .logReplaced: "-wal"
                case .indexDeleted, .indexReplaced: "-shm"
                default: ""
                }
            switch self {
            case .deleted, .logDeleted, .indexDeleted: try files.removeItem(atPath: path + suffix)
            case .renamed: try files.moveItem(atPath: path, toPath: away)
            case .restored, .logReplaced, .indexReplaced:
                try files.copyItem(atPath: path + suffix, toPath: away)
                // One step, as a careful program restores a file.
                guard rename(away, path + suffix) == 0 else { throw CocoaError(.fileWriteUnknown) }
            case .folderRenamed: try files.moveItem(atPath: own, toPath: away)
            case .folderReplaced:
                try files.copyItem(atPath: own, toPath: away)
                try files.moveItem(atPath: own, toPath: away + "-old")
                try files.moveItem(atPath: away, toPath: own)
            case .folderDeleted: try files.removeItem(atPath: own)
            }
            return path + suffix
        }
    }

    @Test("no push is accepted or sent once a file is no longer at its path", arguments: Change.allCases)
    func changed(change: Change) async throws {
        let outbox = try await opened()
        try await enqueue(in: outbox)
        try await outbox.requireWritable()
        let expected = OutboxError.replaced(try change.make(of: path, in: folder.url))
        await #expect(throws: expected) { try await enqueue(in: outbox) }
        await #expect(throws: expected) { try await outbox.requireWritable() }
        await #expect(throws: expected) { try await outbox.status() }
        await #expect(throws: expected) { try await outbox.retryNow() }
        let transport = ScriptedTransport()
        await #expect(throws: CourierError.outbox(expected)) {
            try await Courier(for: outbox, through: transport, limits: Fixture.limits()).run(until: .empty)
        }
        #expect(transport.delivered.all.isEmpty)
    }

    @Test("a push that is stored while the file is replaced isn't acknowledged") func meanwhile() async throws {
        let outbox = try await opened()
        let store = try #require(outbox.store as? SQLiteStore)
        let (path, folder) = (path, folder.url)
        await #expect(throws: OutboxError.replaced(path)) {
            try await store.write { db, _ in
                try db.execute(sql: "DELETE FROM tallies")
                _ = try Change.restored.make(of: path, in: folder)
            }
        }
    }

    @Test("a file that was moved away and back is used again, and has everything") func back() async throws {
        let outbox = try await opened()
        try await enqueue(in: outbox)
        let away = folder.appending("elsewhere").path
        let own = folder.appending("own").path
        try FileManager.default.moveItem(atPath: own, toPath: away)
        await #expect(throws: OutboxError.replaced(path)) { try await enqueue(in: outbox) }
        try FileManager.default.moveItem(atPath: away, toPath: own)
        try await enqueue(in: outbox)
        #expect(try await outbox.status().waitingCount == 2)
    }

    @Test("an outbox that took another's place keeps its log when the other one is closed") func successor()
        async throws
    {
        var first: Outbox? = try await opened()
        let wasOpen = WeakStore(first?.store as? SQLiteStore)
        try FileManager.default.moveItem(atPath: folder.appending("own").path, toPath: folder.appending("old").path)
        try FileManager.default.createDirectory(
            at: folder.appending("own"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let second = try await opened()
        try await enqueue(in: second)
        first = nil
        try await eventually("the first outbox is closed") { wasOpen.store == nil }
        try await enqueue(in: second)
        #expect(try await Outbox(at: path, clock: time.clock).status().waitingCount == 2)
        #expect(first == nil)
    }

    private final class WeakStore {
        weak var store: SQLiteStore?
        init(_ store: SQLiteStore?) { self.store = store }
    }
}
