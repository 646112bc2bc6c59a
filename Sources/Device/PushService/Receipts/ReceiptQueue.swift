package import Foundation
internal import PushCore
package import SealedPush

/// Waiting receipts and counts of failures to open, as files. Any number of processes may use them at once, without a lock,
/// and each may be killed or suspended at any moment.
///
/// - `failures`: one byte for each push that didn't open.
/// - `making.ID/`: a receipt being made. The counts are moved into it first, so that each is in at most one receipt.
/// - `TIME.NUMBER/receipt`: a finished receipt, without any key. It was renamed into place as a whole, with its counts.
/// - `gone.ID/`: a receipt being removed.
///
/// Counts may be lost: those of a receipt that was never accepted, and one written while another process takes the
/// counts. No failure is counted twice. Source: DeviceState 36.1.
package struct ReceiptQueue: Sendable {
    private let root: URL

    /// - Parameter root: The folder `SealedPush` of the shared container.
    package init(in root: URL) { self.root = root }

    /// Counts a push that didn't open. Costs one write; at most 65,535 are counted between two receipts.
    package func count(_ reason: OpenError) {
        guard ensureFolder() else { return }
        let descriptor = open(
            path("failures"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            Int(status.st_size) < Self.maximumFailureCount
        else { return }
        try? DurableFiles.writeAll([reason.facts.number], to: descriptor)
    }

    /// Makes room and adds a receipt, unless there already is one for the same message.
    func add(_ receipt: ReceiptBody, answering request: ReceiptRequest, due: Timestamp, takingFailures: Bool) {
        guard ensureFolder() else { return }
        tidy()
        let waiting = waiting()
        guard !waiting.contains(where: { $0.hasSuffix(Hex.encode(receipt.number)) }) else { return }
        // Keep the newest.
        for name in waiting.dropLast(Self.maximumCount - 1) { remove(name) }
        for takesFailures in takingFailures ? [true, false] : [false] {
            // The second attempt has no counts: another process took them over while this one was suspended.
            if make(receipt, request, due: due, takingFailures: takesFailures) { return }
        }
    }

    package func waiting() -> [String] { names().filter(WaitingReceipt.isName).sorted() }

    /// Returns the names of the waiting receipts: least recently tried first, then oldest first.
    func waitingByTrial() -> [String] {
        let tried = waiting().map { name in
            (name: name, time: DurableFiles.modified(folder.appending(path: "\(name)/receipt")) ?? 0)
        }
        return tried.sorted { ($0.time, $0.name) < ($1.time, $1.name) }.map { $0.name }
    }

    /// Marks a receipt as about to be posted, so that it comes last next time, even if this process ends meanwhile.
    func markTried(_ name: String) { utimes(path("\(name)/receipt"), nil) }

    /// Returns a receipt, or nil if it's gone; removes a damaged one.
    func receipt(named name: String) -> WaitingReceipt? {
        do throws(DurableFiles.Failure) {
            if let receipt = try read(name) { return receipt }
        } catch {
            // Not readable yet, or out of descriptors: try later.
            guard [ENOENT, EINVAL, ELOOP].contains(error.code) else { return nil }
        }
        remove(name)
        return nil
    }

    /// Atomically takes a receipt out, then removes its files.
    func remove(_ name: String) {
        let gone = "gone.\(UUID().uuidString)"
        guard rename(path(name), path(gone)) == 0 else { return }
        removeFiles(of: gone)
    }

    /// Returns false if another process has taken over this one's receipt.
    private func make(_ receipt: ReceiptBody, _ request: ReceiptRequest, due: Timestamp, takingFailures: Bool) -> Bool {
        let making = "making.\(UUID().uuidString)"
        guard begin(making, takingFailures: takingFailures) else { return true }
        var receipt = receipt
        receipt.counts = counts(in: making)
        let waiting = WaitingReceipt(address: request.address, due: due, body: receipt.bytes(key: request.key))
        do throws(DurableFiles.Failure) {
            try DurableFiles.write(waiting.json, to: folder.appending(path: "\(making)/receipt"), mode: 0o600)
        } catch {
            // If the disk is full, the counts stay where they are for later.
            return error.code != ENOENT
        }
        // If it's gone, another process has put it into place.
        _ = rename(path(making), path(waiting.name))
        return true
    }

    /// Makes the folder of a new receipt, or takes over one that a killed process left behind with its counts.
    private func begin(_ making: String, takingFailures: Bool) -> Bool {
        guard takingFailures else { return mkdir(path(making), 0o700) == 0 }
        for left in abandoned() where rename(path(left), path(making)) == 0 {
            unlink(path("\(making)/receipt"))
            return true
        }
        guard mkdir(path(making), 0o700) == 0 else { return false }
        _ = rename(path("failures"), path("\(making)/failures"))
        return true
    }

    private func counts(in making: String) -> [UInt16] {
        let file = folder.appending(path: "\(making)/failures")
        let bytes = (try? DurableFiles.read(file, limit: Self.maximumFailureCount)) ?? []
        var counts = [UInt16](repeating: 0, count: ReceiptBody.reasonCount)
        let known = Set(OpenError.allCases.map { $0.facts.number })
        for byte in bytes where known.contains(byte) { counts[Int(byte) - 1] += 1 }
        return counts
    }

    /// Completes removals, and puts into place receipts whose process was killed right after finishing them.
    private func tidy() {
        for name in names() where name.hasPrefix("gone.") { removeFiles(of: name) }
        for left in abandoned() { if let receipt = try? read(left) { _ = rename(path(left), path(receipt.name)) } }
    }

    /// Returns the unfinished receipts that haven't been touched for a minute, oldest first.
    private func abandoned() -> [String] {
        let old = names().filter { $0.hasPrefix("making.") }.compactMap { name -> (String, Int64)? in
            guard let age = DurableFiles.secondsUntouched(folder.appending(path: name)) else { return nil }
            return age > Self.abandonedSeconds ? (name, age) : nil
        }
        return old.sorted { $0.1 > $1.1 }.map { $0.0 }
    }

    private func read(_ name: String) throws(DurableFiles.Failure) -> WaitingReceipt? {
        WaitingReceipt(
            parsing: try DurableFiles.read(
                folder.appending(path: "\(name)/receipt"), limit: WaitingReceipt.maximumByteCount))
    }

    private func removeFiles(of name: String) {
        for file in ["receipt", "failures"] { unlink(path("\(name)/\(file)")) }
        rmdir(path(name))
    }

    var folder: URL { root.appending(path: Self.folderName, directoryHint: .isDirectory) }

    private func names() -> [String] { (try? DurableFiles.names(in: folder)) ?? [] }

    private func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }

    /// Always readable, because counting must work before the first unlock.
    private func ensureFolder() -> Bool { (try? FileProtection.always.ensureFolder(Self.folderName, in: root)) != nil }

    private static let folderName = "receipts"
    package static let maximumCount = 32
    package static let maximumFailureCount = 65_535
    private static let abandonedSeconds: Int64 = 60
}

/// A finished receipt in the queue: its destination, due time, and bytes. No key.
struct WaitingReceipt: Hashable, Sendable {
    let address: ReceiptAddress
    let due: Timestamp
    let body: [UInt8]
}

extension WaitingReceipt {
    /// Nil unless the bytes have the form that ``json`` makes.
    init?(parsing bytes: [UInt8]) {
        guard let members = JSONReader.object(bytes, maximumByteCount: Self.maximumByteCount),
            let address = members["url"]?.string.flatMap(ReceiptAddress.init(parsing:)),
            let due = members["due"]?.integer.flatMap(Timestamp.init(secondsSince1970:)),
            let body = members["body"]?.bytes(count: ReceiptBody.byteCount)
        else { return nil }
        self.init(address: address, due: due, body: body)
        guard Self.isName(name) else { return nil }
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { object in
            object.string("url", address.description)
            object.integer("due", due.secondsSince1970)
            object.string("body", Base64URL.encode(body))
        }
        return writer.bytes
    }

    /// The creation time, so that names sort by it, and the receipt's number.
    var name: String {
        let (created, number) = ReceiptBody.createdAndNumber(of: body)
        let seconds = String(created)
        return String(repeating: "0", count: max(0, 12 - seconds.count)) + seconds + "." + Hex.encode(number)
    }

    static func isName(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].utf8.count == 12 && Int64(parts[0]) != nil && parts[1].utf8.count == 32
    }

    /// The creation time, in Unix seconds.
    static func created(inName name: String) -> Int64 { Int64(name.prefix(12)) ?? 0 }

    static let maximumByteCount = 1_024
}
