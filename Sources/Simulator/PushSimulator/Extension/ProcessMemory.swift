internal import PushCore

/// A process's own memory: anonymous and resident, so neither program text nor mapped files, as iOS counts it.
///
/// Source: proc_pid_status(5): `RssAnon`, `RssFile`, `RssShmem`, `VmHWM`. Not for several threads at once.
final class ProcessMemory {
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 4_096)
    private var highestOther = 0

    /// Nil where there is no such process.
    init?(of process: String) {
        descriptor = open("/proc/\(process)/status", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    struct Sample {
        /// Bytes, now.
        var own: Int
        /// Bytes that it certainly had at some time, although nobody looked just then.
        var past: Int
    }

    /// Nil where the process has ended. Takes about 20 µs.
    func sample() -> Sample? {
        let count = pread(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return nil }
        let status = buffer[..<count]
        guard let own = value("RssAnon:", in: status) else { return nil }
        let other = (value("RssFile:", in: status) ?? 0) + (value("RssShmem:", in: status) ?? 0)
        highestOther = max(highestOther, other)
        // All memory at its highest, less the most that was seen of what is not its own.
        return Sample(own: own, past: max(own, (value("VmHWM:", in: status) ?? 0) - highestOther))
    }

    /// The calling process's own memory now, in bytes.
    static var current: Int { ProcessMemory(of: "self")?.sample()?.own ?? 0 }

    /// Whether these numbers are the extension's own: a sanitizer's bookkeeping is anonymous memory too, and larger.
    static let isMeaningful = dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil

    /// The kernel counts in kibibytes.
    private func value(_ name: StaticString, in status: ArraySlice<UInt8>) -> Int? {
        name.withUTF8Buffer { name in
            var line = status
            while !line.isEmpty {
                if line.starts(with: name) {
                    var number = 0
                    for byte in line.dropFirst(name.count) where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "\t")
                    {
                        guard byte.isDigit else { break }
                        number = number * 10 + Int(byte - UInt8(ascii: "0"))
                    }
                    return number * 1_024
                }
                guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
                line = line[(end + 1)...]
            }
            return nil
        }
    }
}
