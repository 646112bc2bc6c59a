import Foundation
internal import PushCore
import SealedPush

/// What a file has and a copy of it has not: its inode, and the time at which it was made.
///
/// So a ledger that was copied back from an older copy is known for what it is. Programs can't set either. On Linux,
/// where Swift sees no time of birth, the time of the last change of status stands for it: the file is never touched
/// again. Source: Specification 7.6, `origin`.
enum FileOrigin {
    /// "inode seconds.nanoseconds", and a newline.
    static func text(of file: URL) throws(DurableFiles.Failure) -> String {
        var status = stat()
        guard stat(file.path(percentEncoded: false), &status) == 0 else { throw DurableFiles.Failure(code: errno) }
        #if canImport(Darwin)
            let moment = status.st_birthtimespec
        #else
            let moment = status.st_ctim
        #endif
        let fraction = String(moment.tv_nsec)
        let zeros = String(repeating: "0", count: max(0, 9 - fraction.count))
        return "\(status.st_ino) \(moment.tv_sec).\(zeros)\(fraction)\n"
    }
}
