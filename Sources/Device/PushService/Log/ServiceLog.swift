package import Foundation
internal import PushCore
public import SealedPush

/// A log of what happened to each push, for the app to read later. It contains codes and public IDs, but no content or keys.
///
/// It consists of two files of JSON lines, at most 64 KiB each; the oldest lines are dropped first. Works before the first
/// unlock. Several processes may write at once, because a line is written whole or not at all. A log that can't be written
/// affects nothing else. Source: DeviceState 33.
public struct ServiceLog: Sendable {
    private let folder: URL

    /// The outcome of one push, or of one of its stages.
    public struct Entry: Hashable, Sendable {
        /// The time of the entry.
        public let time: Timestamp
        /// Why the push didn't open; nil if it opened.
        public internal(set) var reason: OpenError?
        /// The ID of the device's key as eight hexadecimal digits, once a key was found.
        public internal(set) var recipientKeyID: String?
        /// The ID of the trusted sender's key as eight hexadecimal digits, once a key was found.
        public internal(set) var senderKeyID: String?
        /// The stage that failed, if the entry is about one.
        public internal(set) var stage: String?
        /// The code of the stage's error.
        public internal(set) var failure: String?
        /// Whether the process ended before it showed the notification, so that the person saw the push's plaintext alert, if
        /// anything. If the log has another line for the push, it was written before that.
        public internal(set) var isUnfinished = false
    }

    /// Opens this app's log; nil if the system doesn't know the app group.
    public init?(container: SharedContainer) {
        guard let folder = DeviceEnvironment.system.folder(container.whole) else { return nil }
        self.init(folder: folder)
    }

    package init(folder: URL) { self.folder = folder }

    /// Returns all remaining lines, oldest first, except those that can't be read. Adds an entry for each push of the last week
    /// whose process ended too early.
    public func entries() -> [Entry] { entries(at: .now()) }

    package func entries(at now: Timestamp) -> [Entry] {
        var entries = entries(in: Self.olderName) + entries(in: Self.name)
        for time in RunMarkers(in: folder).unfinished(at: now) {
            let index = entries.firstIndex { $0.time > time } ?? entries.endIndex
            entries.insert(Entry(time: time, isUnfinished: true), at: index)
        }
        return entries
    }

    /// The size of the newer file.
    package var byteCount: Int {
        let file = folder.appending(path: Self.name).path(percentEncoded: false)
        return (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int) ?? 0
    }

    /// Returns the newer file's lines from this byte on, or all of them if the file has been replaced since.
    package func entries(from offset: Int) -> [Entry] { entries(in: Self.name, from: offset) }

    private func entries(in name: String, from offset: Int = 0) -> [Entry] {
        let bytes = (try? DurableFiles.read(folder.appending(path: name), limit: 2 * Self.maximumByteCount)) ?? []
        let new = bytes.count >= offset ? bytes.dropFirst(offset) : bytes[...]
        return new.split(separator: UInt8(ascii: "\n")).compactMap { Entry(line: Array($0)) }
    }

    func append(_ entry: Entry) {
        try? FileProtection.always.ensureFolder(folder)
        let file = folder.appending(path: Self.name)
        let descriptor = open(
            file.path(percentEncoded: false), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard DurableFiles.isRegular(descriptor) else { return }
        let line = entry.line
        // A single write of a short line with O_APPEND keeps the lines of two processes apart.
        try? DurableFiles.writeAll(line, to: descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0, Int(status.st_size) + Self.maximumLineByteCount > Self.maximumByteCount
        else { return }
        rename(file.path(percentEncoded: false), folder.appending(path: Self.olderName).path(percentEncoded: false))
    }

    private static let name = "log.jsonl"
    private static let olderName = "log.1.jsonl"
    private static let maximumByteCount = 65_536
    private static let maximumLineByteCount = 256
}

extension ServiceLog.Entry: CustomStringConvertible {
    /// The entry without its time: a code, and the key IDs or the stage; or `unfinished`.
    public var description: String {
        if isUnfinished { return "unfinished" }
        if let stage { return "\(stage) \(failure ?? "failed")" }
        return "\(reason?.rawValue ?? "opened") \(recipientKeyID ?? "-") \(senderKeyID ?? "-")"
    }
}

extension ServiceLog.Entry {
    /// Makes an entry for a failed stage, with the error's code or `failed`, and nothing else from the error.
    init(time: Timestamp, stage: String, failure: any Error) {
        let code = (failure as? any StageError)?.code ?? (failure is CancellationError ? "canceled" : "failed")
        self.init(time: time, stage: Self.word(stage), failure: Self.word(code))
    }

    /// Returns at most 32 of the text's letters, digits, and hyphens; drops everything else.
    private static func word(_ text: String) -> String {
        let kept = text.utf8.filter { $0.isLetter || $0.isOfLabel }
        return String(decoding: kept.prefix(32), as: UTF8.self)
    }

    fileprivate var line: [UInt8] {
        var writer = JSONWriter(reservingByteCount: 160)
        writer.object { object in
            object.integer("time", time.secondsSince1970)
            if let stage {
                object.string("outcome", "stage-failed")
                object.string("stage", stage)
                object.string("reason", failure)
                return
            }
            object.string("outcome", reason == nil ? "opened" : "safe-default")
            object.string("reason", reason?.rawValue)
            object.string("recipient", recipientKeyID)
            object.string("sender", senderKeyID)
        }
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    fileprivate init?(line: [UInt8]) {
        guard let members = JSONReader.object(line, maximumByteCount: 1_024),
            let time = members["time"]?.integer.flatMap(Timestamp.init(secondsSince1970:))
        else { return nil }
        let code = members["reason"]?.string
        if let stage = members["stage"]?.string {
            self.init(time: time, stage: stage, failure: code)
            return
        }
        let reason = code.flatMap(OpenError.init(rawValue:))
        guard code == nil || reason != nil else { return nil }
        self.init(
            time: time, reason: reason, recipientKeyID: members["recipient"]?.string,
            senderKeyID: members["sender"]?.string)
    }
}
