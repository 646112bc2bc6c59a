package import Foundation
internal import Glibc

/// The files of a run.
package struct RunFolder: Sendable {
    package let url: URL
    /// The folder for the phones' keychains and ledgers, which have a file for each message. In memory if there is room,
    /// because a thousand phones don't share one disk.
    private let devices: URL
    /// This run's own folder in memory.
    private let memory: URL?

    package init(_ url: URL) {
        self.url = url
        devices = url.appending(path: "Devices")
        memory = nil
    }

    /// - Parameter stateByteCount: The space that the devices will need.
    package init(_ url: URL, stateByteCount: Int) {
        self.url = url
        let place = "/dev/shm"
        var status = statvfs()
        let isThere = FileManager.default.isWritableFile(atPath: place) && statvfs(place, &status) == 0
        let isRoomy = isThere && Int(status.f_bavail) * Int(status.f_frsize) > stateByteCount
        memory = isRoomy ? URL(filePath: place).appending(path: url.lastPathComponent) : nil
        devices = (memory ?? url).appending(path: "Devices")
    }

    package func remove() {
        for folder in [url, memory].compactMap({ $0 }) { try? FileManager.default.removeItem(at: folder) }
    }

    package var outbox: URL { url.appending(path: "outbox.db") }
    /// The sender's key, as text.
    package var senderKey: URL { url.appending(path: "sender-key.txt") }
    package var apns: URL { url.appending(path: "APNs") }
    package var states: URL { devices.appending(path: "States") }
    package var apnsLog: URL { apns.appending(path: "log.jsonl") }
    /// The numbers of the messages for which enqueueing has returned, one per line.
    package var acknowledged: URL { url.appending(path: "acknowledged.txt") }
    /// A file that exists once a phone has revoked its keys halfway and the outbox has the record.
    package func revoked(_ device: Int) -> URL { url.appending(path: "Revoked").appending(path: "\(device)") }
    package var senderLog: URL { url.appending(path: "sender.log") }
    package var senderMetrics: URL { url.appending(path: "sender.metrics") }
    package var plan: URL { url.appending(path: "plan.json") }

    /// The output of a process, including its errors.
    package func output(of process: String) -> URL { url.appending(path: "\(process).out") }

    /// The outbox's files on disk, whichever of the three exist.
    package var outboxFiles: [URL] {
        ["", "-wal", "-shm"].map { URL(filePath: outbox.path(percentEncoded: false) + $0) }
            .filter { FileManager.default.fileExists(atPath: $0.path(percentEncoded: false)) }
    }

    package func write(_ plan: RunPlan) throws { try JSONEncoder().encode(plan).write(to: self.plan) }

    package func readPlan() throws -> RunPlan { try JSONDecoder().decode(RunPlan.self, from: Data(contentsOf: plan)) }
}
