package import Foundation
internal import PushCore
package import PushService

/// A simulated phone's keychain: a folder with a file for each item, readable only by its owner.
///
/// Each file is written atomically, even across a crash, and is named after a hash of its item's account. It contains the
/// account and the attributes, one line each, followed by the secret **in the clear**. Only the file's mode protects
/// it; there is no secure hardware, as in a phone. Safe across threads and processes; writers take turns.
package struct FileSecretItems: SecretItems {
    private let folder: URL
    private let isLocked: Bool

    /// - Parameters:
    ///   - folder: The folder, which need not exist before the first item is added.
    ///   - isLocked: Whether the phone hasn't been unlocked since it started. If so, every call fails.
    package init(in folder: URL, isLocked: Bool = false) {
        self.folder = folder
        self.isLocked = isLocked
    }

    package func list() throws(SecretItemError) -> [ListedItem] {
        guard !isLocked else { throw .locked }
        // If nothing has ever been changed, there is no file to lock.
        return try whileLocked(LOCK_SH, O_RDONLY, ifMissing: []) { () throws(SecretItemError) in
            var items: [ListedItem] = []
            for name in try names() where name.hasPrefix(Self.prefix) {
                guard let item = try read(folder.appending(path: name), { item, _ in item }) else { continue }
                items.append(item)
            }
            return items
        }
    }

    package func secret(account: String) throws(SecretItemError) -> ItemSecret {
        guard !isLocked else { throw .locked }
        guard let secret = try read(file(account), { _, secret in ItemSecret(copying: secret) }) else {
            throw .notFound
        }
        return secret
    }

    package func add(_ item: SecretItem) throws(SecretItemError) {
        try change { () throws(SecretItemError) in
            let isNew = try Self.call { () throws(DurableFiles.Failure) in
                var bytes = Self.bytes(of: item)
                defer { wipe(&bytes) }
                return try DurableFiles.create(file(item.account), holding: bytes, staging: folder)
            }
            guard isNew else { throw .duplicate }
        }
    }

    package func replace(_ item: ListedItem, attributes: [UInt8]) throws(SecretItemError) {
        try change { () throws(SecretItemError) in
            let file = file(item.account)
            let changed = try read(file) { stored, secret in
                stored == item
                    ? SecretItem(
                        account: item.account, attributes: attributes, secret: ItemSecret(copying: secret)) : nil
            }
            guard let changed, let changed else { throw .notFound }
            try Self.call { () throws(DurableFiles.Failure) in
                var bytes = Self.bytes(of: changed)
                defer { wipe(&bytes) }
                try DurableFiles.replace(file, with: bytes, mode: Self.mode)
            }
        }
    }

    package func remove(account: String) throws(SecretItemError) {
        try change { () throws(SecretItemError) in
            guard unlink(file(account).path(percentEncoded: false)) == 0 else {
                throw errno == ENOENT ? .notFound : .other(errno)
            }
            try Self.call { () throws(DurableFiles.Failure) in try DurableFiles.sync(folder: folder) }
        }
    }

    private func file(_ account: String) -> URL {
        // An account may be longer than a file name allows.
        let hash = BLAKE2b.hash(Array(account.utf8), byteCount: 32)
        return folder.appending(path: Self.prefix + Hex.encode(hash))
    }

    private func names() throws(SecretItemError) -> [String] {
        do throws(DurableFiles.Failure) { return try DurableFiles.names(in: folder) } catch {
            guard error.code == ENOENT else { throw .other(error.code) }
            return []
        }
    }

    /// Returns nil if the file is missing or damaged.
    private func read<Answer>(
        _ file: URL, _ body: (ListedItem, UnsafeRawBufferPointer) -> Answer
    ) throws(SecretItemError) -> Answer? {
        var bytes: [UInt8]
        do throws(DurableFiles.Failure) {
            bytes = try DurableFiles.read(file, limit: Self.maximumByteCount, isSecret: true)
        } catch {
            guard error.code == ENOENT else { throw .other(error.code) }
            return nil
        }
        defer { wipe(&bytes) }
        let parts = bytes.split(separator: Self.newline, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[2].isEmpty else { return nil }
        let item = ListedItem(account: String(decoding: parts[0], as: UTF8.self), attributes: Array(parts[1]))
        return parts[2].withUnsafeBytes { body(item, $0) }
    }

    private static func bytes(of item: SecretItem) -> [UInt8] {
        precondition(
            !item.account.utf8.contains(newline) && !item.attributes.contains(newline),
            "an item's account and attributes must not contain a newline")
        let head = Array(item.account.utf8) + [newline] + item.attributes + [newline]
        // In a single array, so that wiping it wipes everything.
        return item.secret.withBytes { secret in
            [UInt8](unsafeUninitializedCapacity: head.count + secret.count) { buffer, count in
                let buffer = UnsafeMutableRawBufferPointer(buffer)
                buffer.copyBytes(from: head)
                UnsafeMutableRawBufferPointer(rebasing: buffer[head.count...]).copyMemory(from: secret)
                count = head.count + secret.count
            }
        }
    }

    /// Makes one change at a time across all processes, so that no other change is lost.
    private func change(_ body: () throws(SecretItemError) -> Void) throws(SecretItemError) {
        guard !isLocked else { throw .locked }
        try Self.call { () throws(DurableFiles.Failure) in try FileProtection.fromFirstUnlock.ensureFolder(folder) }
        try whileLocked(LOCK_EX, O_RDWR | O_CREAT) { () throws(SecretItemError) in
            // A killed process may have left a secret behind.
            DurableFiles.removeUnfinished(in: folder, untouchedFor: 60)
            try body()
        }
    }

    /// - Parameter missing: The result if there is no file to lock; without it, that's an error.
    private func whileLocked<Answer>(
        _ kind: Int32, _ mode: Int32, ifMissing missing: Answer? = nil, _ body: () throws(SecretItemError) -> Answer
    ) throws(SecretItemError) -> Answer {
        let path = folder.appending(path: "lock").path(percentEncoded: false)
        let lock = open(path, mode | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else {
            if errno == ENOENT, let missing { return missing }
            throw .other(errno)
        }
        defer { close(lock) }
        while flock(lock, kind) != 0 { guard errno == EINTR else { throw .other(errno) } }
        return try body()
    }

    private static func call<Answer>(
        _ body: () throws(DurableFiles.Failure) -> Answer
    ) throws(SecretItemError) -> Answer {
        do throws(DurableFiles.Failure) { return try body() } catch { throw .other(error.code) }
    }

    private static let prefix = "item."
    private static let mode: UInt16 = 0o600
    private static let newline = UInt8(ascii: "\n")
    /// Larger than the longest account, 12,000 bytes of attributes, and the longest secret combined.
    private static let maximumByteCount = 73_728
}
