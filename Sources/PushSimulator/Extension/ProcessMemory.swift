import Foundation
internal import SealedPush

/// A process's own memory: anonymous and resident, so neither program text nor mapped files, as iOS counts it.
///
/// Source: proc_pid_status(5), `RssAnon`.
enum ProcessMemory {
    /// Bytes; 0 where there is no such process.
    static func byteCount(of process: String) -> Int {
        // The process may end while its file is read: then there is nothing to know.
        guard let bytes = try? DurableFiles.read(URL(filePath: "/proc/\(process)/status"), limit: 8_192) else {
            return 0
        }
        let status = String(decoding: bytes, as: UTF8.self)
        for line in status.split(separator: "\n") where line.hasPrefix("RssAnon:") {
            let kibibytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).compactMap { Int($0) }.first
            return (kibibytes ?? 0) * 1_024
        }
        return 0
    }
}
