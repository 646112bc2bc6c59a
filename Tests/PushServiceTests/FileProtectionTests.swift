import Foundation
import PushCore
import SealedPush
import TestSupport
import Testing

@testable import PushService

/// Docs/Decisions/0030-files-on-a-phone.md. Linux has no such classes: what is shown is which are asked for, and when.
@Suite("The classes of a phone's files")
struct FileProtectionTests {
    private let folder: TemporaryFolder
    private let now = Timestamp.now()

    init() throws { folder = try TemporaryFolder() }

    /// A phone's classes, by path; and what lay in a folder when it got its own.
    private final class Classes: Sendable {
        private let state = Locked<(classes: [String: FileProtection], early: [String])>(([:], []))

        var system: FileProtection.System {
            FileProtection.System(
                current: { [self] path in state.withLock { $0.classes[Self.key(path)] } },
                set: { [self] protection, path in
                    // What is made in a folder has its class, unless another is given later.
                    let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
                    state.withLock { state in
                        state.classes[Self.key(path)] = protection
                        state.early += files.map { "\(path)/\($0)" }
                    }
                })
        }

        func of(_ url: URL) -> FileProtection? {
            state.withLock { $0.classes[Self.key(url.path(percentEncoded: false))] }
        }
        var early: [String] { state.withLock { $0.early } }

        /// A folder's path may end with a slash or not.
        private static func key(_ path: String) -> String { path.split(separator: "/").joined(separator: "/") }
    }

    private var root: URL { folder.appending("SealedPush") }

    private func makeAll() throws {
        ServiceLog(folder: root).append(.init(time: now, reason: .locked, recipientKeyID: nil, senderKeyID: nil))
        ReceiptQueue(in: root).count(.locked)
        try FileLedger(folder: root.appending(path: "ledger")).begin(floor: now, asksForNewKey: false)
        ConfirmationMarkers(in: root).mark(DevicePrivateKey().recipient, at: now)
        try SharedValues(in: root).replaceAll(with: ["quote": "x"])
        _ = try Data("x".utf8).write(to: ScratchFolder(in: folder.appending("tmp")).file(named: "picture"))
    }

    private func expectClasses(_ classes: Classes) {
        for always in ["", "receipts"] { #expect(classes.of(root.appending(path: always)) == .always, "\(always)") }
        for later in ["ledger", "confirmed", "values"] {
            #expect(
                classes.of(root.appending(path: later, directoryHint: .isDirectory)) == .fromFirstUnlock, "\(later)")
        }
        #expect(classes.of(folder.appending("tmp").appending(path: "sealed-push/")) == .fromFirstUnlock)
    }

    @Test("each folder gets its own, before anything is made in it")
    func foldersFirst() throws {
        let classes = Classes()
        try FileProtection.$system.withValue(classes.system) { try makeAll() }
        expectClasses(classes)
        #expect(classes.early.isEmpty)
        var fileCount = 0
        for file in try Checkout.allFiles(in: folder.url) {
            fileCount += 1
            let around = sequence(first: file.deletingLastPathComponent()) { $0.deletingLastPathComponent() }
            #expect(around.prefix(6).contains { classes.of($0) != nil }, "\(file.path)")
        }
        #expect(fileCount >= 7)
    }

    @Test("a folder that has another gets its own the next time, as where a process was killed before that")
    func later() throws {
        let classes = Classes()
        try makeAll()
        try FileProtection.$system.withValue(classes.system) { try makeAll() }
        expectClasses(classes)
    }

    @Test("one that can't be set costs nothing")
    func refused() throws {
        let stubborn = FileProtection.System(current: { _ in nil }, set: { _, _ in })
        try FileProtection.$system.withValue(stubborn) { try makeAll() }
        #expect(ServiceLog(folder: root).entries().count == 1)
        #expect(SharedValues(in: root).all() == ["quote": "x"])
        #expect(try FileLedger(folder: root.appending(path: "ledger")).floor() == now)
    }
}
