internal import Foundation

/// A process's own memory: anonymous and resident, so neither program text nor mapped files, as iOS counts it.
///
/// Source: proc_pid_status(5): `RssAnon`, `RssFile`, `RssShmem`, `VmHWM`. Not for several threads at once.
final class ProcessMemory {
    private let descriptor: Int32
    private var status = [CChar](repeating: 0, count: 4_096)
    private var highestOther = 0

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
        let count = pread(descriptor, &status, status.count - 1, 0)
        guard count > 0 else { return nil }
        status[count] = 0
        guard let own = value("RssAnon:") else { return nil }
        let other = (value("RssFile:") ?? 0) + (value("RssShmem:") ?? 0)
        highestOther = max(highestOther, other)
        // All memory at its highest, less the most that was seen of what is not its own.
        return Sample(own: own, past: max(own, (value("VmHWM:") ?? 0) - highestOther))
    }

    /// The number after a name that begins a line. The kernel counts in kibibytes.
    private func value(_ name: String) -> Int? {
        let name = "\n" + name
        return status.withUnsafeBufferPointer { status in
            status.baseAddress.flatMap { strstr($0, name) }.map { strtol($0 + name.utf8.count, nil, 10) * 1_024 }
        }
    }

    /// The calling process's own memory now, in bytes.
    static var current: Int { ProcessMemory(of: "self")?.sample()?.own ?? 0 }

    /// Whether these numbers are the extension's own: a sanitizer's bookkeeping is anonymous memory too, and larger.
    static let isMeaningful = dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil
}
