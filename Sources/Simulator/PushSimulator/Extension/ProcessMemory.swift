internal import Foundation

/// Measures a process's own memory as iOS does: anonymous and resident, without program text or mapped files.
///
/// Source: proc_pid_status(5): `RssAnon`, `RssFile`, `RssShmem`, `VmHWM`. Not thread-safe.
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
        /// The current size, in bytes.
        var own: Int
        /// A size, in bytes, that the process is known to have reached, even if no sample was taken then.
        var past: Int
    }

    /// Returns a sample, or nil if the process has exited. Takes about 20 µs.
    func sample() -> Sample? {
        let count = pread(descriptor, &status, status.count - 1, 0)
        guard count > 0 else { return nil }
        status[count] = 0
        guard let own = value("RssAnon:") else { return nil }
        let other = (value("RssFile:") ?? 0) + (value("RssShmem:") ?? 0)
        highestOther = max(highestOther, other)
        // Total peak memory, minus the highest amount seen of memory that isn't its own.
        return Sample(own: own, past: max(own, (value("VmHWM:") ?? 0) - highestOther))
    }

    /// Returns the number after a name at the start of a line, in bytes. The kernel reports kibibytes.
    private func value(_ name: String) -> Int? {
        let name = "\n" + name
        return status.withUnsafeBufferPointer { status in
            status.baseAddress.flatMap { strstr($0, name) }.map { strtol($0 + name.utf8.count, nil, 10) * 1_024 }
        }
    }

    /// The calling process's own memory, in bytes.
    static var current: Int { ProcessMemory(of: "self")?.sample()?.own ?? 0 }

    /// Whether the numbers are meaningful. A sanitizer's bookkeeping is anonymous memory, too, and larger.
    static let isMeaningful = dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil
}
