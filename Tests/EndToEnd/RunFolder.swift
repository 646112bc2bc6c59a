package import Foundation
internal import Glibc

/// Where the parts of a run keep what they have.
package struct RunFolder: Sendable {
    package let url: URL
    /// For the phones' keychains and ledgers, a file for each message: in memory where there is room for that, since a
    /// thousand phones do not share one disk.
    private let devices: URL
    /// What is this run's alone, in memory.
    private let memory: URL?

    package init(_ url: URL) {
        self.url = url
        devices = url.appending(path: "Devices")
        memory = nil
    }

    /// - Parameter stateByteCount: what the devices will need.
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
    /// The sender's key alone, as text.
    package var senderKey: URL { url.appending(path: "sender-key.txt") }
    package var apns: URL { url.appending(path: "APNs") }
    package var states: URL { devices.appending(path: "States") }
    package var apnsLog: URL { apns.appending(path: "log.jsonl") }
    /// The numbers for which enqueueing has returned, a line each.
    package var acknowledged: URL { url.appending(path: "acknowledged.txt") }
    /// Is there once a phone has revoked its keys halfway, and the outbox knows.
    package func revoked(_ device: Int) -> URL { url.appending(path: "Revoked").appending(path: "\(device)") }
    package var senderLog: URL { url.appending(path: "sender.log") }
    package var senderMetrics: URL { url.appending(path: "sender.metrics") }
    package var plan: URL { url.appending(path: "plan.json") }

    /// What a process printed, both ways.
    package func output(of process: String) -> URL { url.appending(path: "\(process).out") }

    /// What the outbox has on the disk, whichever of the three are there.
    package var outboxFiles: [URL] {
        ["", "-wal", "-shm"].map { URL(filePath: outbox.path(percentEncoded: false) + $0) }
            .filter { FileManager.default.fileExists(atPath: $0.path(percentEncoded: false)) }
    }

    package func write(_ plan: RunPlan) throws { try JSONEncoder().encode(plan).write(to: self.plan) }

    package func readPlan() throws -> RunPlan { try JSONDecoder().decode(RunPlan.self, from: Data(contentsOf: plan)) }
}
