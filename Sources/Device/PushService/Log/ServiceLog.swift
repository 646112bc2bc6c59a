package import Foundation
internal import PushCore
public import SealedPush

/// What became of each push, for the app to read later: codes and public IDs, no content and no key.
///
/// Two files of at most 64 KiB, JSON lines; the older lines go first. Works before the first unlock. Several processes
/// may write at once: a line is written whole or not at all. A log that can't be written changes nothing else.
/// Source: Specification 10.
public struct ServiceLog: Sendable {
    private let folder: URL

    /// What became of one push.
    public struct Entry: Hashable, Sendable {
        public let time: Timestamp
        /// Nil where it opened.
        public internal(set) var reason: OpenError?
        /// The device's key, as eight hexadecimal digits, once one was found.
        public internal(set) var recipientKeyID: String?
        /// The trusted sender's key, likewise.
        public internal(set) var senderKeyID: String?
        /// Where the line is about a stage that has failed: which.
        public internal(set) var stage: String?
        /// And its code.
        public internal(set) var failure: String?
    }

    /// The log of this app; nil where the system knows no such app group.
    public init?(container: SharedContainer) {
        guard let folder = DeviceEnvironment.system.folder(container) else { return nil }
        self.init(folder: folder)
    }

    package init(folder: URL) { self.folder = folder }

    /// Every line that is still there, oldest first. Lines that can't be read are left out.
    public func entries() -> [Entry] { entries(in: Self.olderName) + entries(in: Self.name) }

    /// How long the newer file is.
    package var byteCount: Int {
        let file = folder.appending(path: Self.name).path(percentEncoded: false)
        return (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int) ?? 0
    }

    /// The lines of the newer file from this byte on; all of it where that is a new one since.
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
        // One write of a short line with O_APPEND: two processes' lines never mix.
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

extension ServiceLog.Entry {
    /// A stage's part that is missing from what is shown: the error's code, or `failed`, and nothing else of it.
    init(time: Timestamp, stage: String, failure: any Error) {
        let code = (failure as? any StageError)?.code ?? (failure is CancellationError ? "cancelled" : "failed")
        self.init(time: time, stage: Self.word(stage), failure: Self.word(code))
    }

    /// At most 32 letters, digits and hyphens; anything else is dropped.
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
