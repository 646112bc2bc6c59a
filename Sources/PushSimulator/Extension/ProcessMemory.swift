import Foundation

/// A process's own memory: anonymous and resident, so neither program text nor mapped files, as iOS counts it.
///
/// Source: proc_pid_status(5), `RssAnon`.
enum ProcessMemory {
    /// Bytes; 0 where there is no such process.
    static func byteCount(of process: String) -> Int {
        // Read in one go: the file has no size of its own.
        guard let file = FileHandle(forReadingAtPath: "/proc/\(process)/status") else { return 0 }
        defer { try? file.close() }
        let status = String(decoding: file.readData(ofLength: 8_192), as: UTF8.self)
        for line in status.split(separator: "\n") where line.hasPrefix("RssAnon:") {
            let kibibytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).compactMap { Int($0) }.first
            return (kibibytes ?? 0) * 1_024
        }
        return 0
    }
}
