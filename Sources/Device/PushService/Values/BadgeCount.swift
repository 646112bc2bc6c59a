package import Foundation
internal import PushCore
internal import SealedPush

/// The number on the app's icon that messages add to (`Content.badgeIncrement`), shared by the app and its extension.
///
/// The app sets it, usually to the number of unread messages when it becomes active, and then tells the system
/// (`setBadgeCount`). Several processes may count at once, without a lock; no increment is counted twice. Each call costs a
/// few system calls and no sync. Source: ContentParts 20.
///
/// Each account with a name has its own count, in its configuration's container, and the icon shows the sum:
/// ``DeviceAccounts/badge()``. A message then sets its own account's count, with `badge`, or adds to it.
public struct BadgeCount: Sendable {
    private let folder: URL
    /// The counts of the other accounts, which the icon shows, too; nil if there is only the account without a name.
    private let others: [BadgeCount]?

    /// Opens this app's count; nil if the system doesn't know the app group.
    public init?(container: SharedContainer) {
        guard let folder = DeviceEnvironment.system.folder(container) else { return nil }
        self.init(in: folder)
    }

    /// - Parameter root: The folder `SealedPush` of the shared container.
    package init(in root: URL) { self.init(in: root, beside: nil) }

    /// - Parameter others: The same folders of the other accounts; nil if there is only the account without a name.
    init(in root: URL, beside others: [URL]?) {
        folder = root.appending(path: "badge", directoryHint: .isDirectory)
        self.others = others?.map { BadgeCount(in: $0) }
    }

    /// The count; 0 if it can't be read.
    public var value: Int { min(Self.maximum, max(0, Self.length(path) ?? 0)) }

    /// The number on the icon: the sum of all accounts' counts.
    var total: Int { min(Self.maximum, value + (others ?? []).reduce(0) { $0 + $1.value }) }

    /// Sets the count, from 0 to 9,999.
    ///
    /// - Throws: `CocoaError` if it can't be written, such as before the first unlock.
    public func set(_ value: Int) throws {
        precondition((0...Self.maximum).contains(value), "a badge count must be from 0 to \(Self.maximum)")
        do {
            try ensureFolder()
            let new = folder.appending(path: "new.\(UUID().uuidString)")
            try Data(count: value).write(to: new)
            try DurableFiles.rename(new, to: file)
        } catch { throw CocoaError(.fileWriteUnknown) }
    }

    /// Adds the draft's increment, unless the draft sets the number itself or repeats a message, and notes the sum in the
    /// draft. Beside other accounts, a number that the draft sets becomes this account's count. Returns false if the count can't
    /// be written; the badge then stays as it is.
    func count(_ draft: inout NotificationDraft) -> Bool {
        if let number = draft.badge {
            guard others != nil, !draft.isRepeat else { return true }
            draft.badge = nil
            guard (try? set(min(max(0, number), Self.maximum))) != nil else { return false }
            draft.badgeSum = current
        } else {
            guard !draft.isRepeat, let increment = draft.badgeIncrement,
                Content.badgeIncrements.contains(Int64(increment))
            else { return true }
            draft.badgeSum = add(increment)
        }
        draft.badgeSum?.others = (others ?? []).compactMap(\.current)
        return draft.badgeSum != nil
    }

    /// The count as of now; nil if there is none.
    private var current: Sum? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Sum(value: min(Self.maximum, Int(status.st_size)), file: UInt64(status.st_ino), path: path)
    }

    /// Calls `show` with the draft and its number, the larger of its sum and the last one shown, and returns that draft. Shows
    /// one sum at a time, so that the largest of several is shown last. A draft without a sum is shown as it is, without waiting.
    static func showingLargest(
        of draft: NotificationDraft, _ show: (NotificationDraft) -> Void
    ) -> NotificationDraft {
        guard let sum = draft.badgeSum else {
            show(draft)
            return draft
        }
        // A plain lock, because the system is called while it's held.
        showing.lock()
        defer { showing.unlock() }
        var total = 0
        for one in [sum] + sum.others {
            let last = lastShown[one.path]
            let newest = last?.file == one.file ? max(last?.value ?? 0, one.value) : one.value
            lastShown[one.path] = (newest, one.file)
            total += newest
        }
        var shown = draft
        shown.badge = min(maximum, total)
        show(shown)
        return shown
    }

    /// Returns the number that a withdrawal sets, from which messages then count. Returns nil if it sets none, or if it's a
    /// repeat: a carrier may repeat the push for 30 days.
    static func number(setBy withdrawal: Content, isRepeat: Bool, in count: BadgeCount?) -> Int? {
        guard let number = withdrawal.badge, !isRepeat else { return nil }
        try? count?.set(min(number, maximum))
        guard let count, count.others != nil else { return number }
        return count.total
    }

    private static let showing = NSLock()
    /// Touched only while ``showing`` is held.
    nonisolated(unsafe) private static var lastShown: [String: (value: Int, file: UInt64)] = [:]

    /// The count after one addition.
    struct Sum: Sendable {
        let value: Int
        /// Distinguishes this count from one with which the app replaced it.
        let file: UInt64
        /// Tells one account's count from another's.
        let path: String
        /// The other accounts' counts at that time.
        var others: [Sum] = []
    }

    /// Adds to the count. Returns nil if it can't be written, or if the increment isn't from 1 to 99.
    func add(_ increment: Int) -> Sum? {
        guard Content.badgeIncrements.contains(Int64(increment)), (try? ensureFolder()) != nil else { return nil }
        for _ in 0..<16 {
            let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard descriptor >= 0, DurableFiles.isRegular(descriptor) else { return nil }
            defer { close(descriptor) }
            guard (try? DurableFiles.writeAll([UInt8](repeating: 0, count: increment), to: descriptor)) != nil
            else { return nil }
            // With O_APPEND, this is the end of this write.
            let sum = Int(lseek(descriptor, 0, SEEK_CUR))
            // Try again if the app has replaced the file meanwhile.
            if let file = Self.number(of: descriptor, if: path) {
                return Sum(value: min(Self.maximum, sum), file: file, path: path)
            }
        }
        return nil
    }

    private var file: URL { folder.appending(path: "count") }
    private var path: String { file.path(percentEncoded: false) }

    private func ensureFolder() throws {
        let root = folder.deletingLastPathComponent()
        try FileProtection.fromFirstUnlock.ensureFolder(folder.lastPathComponent, in: root)
    }

    private static func length(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Returns the file's number, if the path still refers to this file.
    private static func number(of descriptor: Int32, if path: String) -> UInt64? {
        var (opened, named) = (stat(), stat())
        guard fstat(descriptor, &opened) == 0, stat(path, &named) == 0, opened.st_ino == named.st_ino else {
            return nil
        }
        return UInt64(opened.st_ino)
    }

    static let maximum = 9_999
}
