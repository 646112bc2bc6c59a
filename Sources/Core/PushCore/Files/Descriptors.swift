#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// This process's limit on open files.
package enum Descriptors {
    /// The maximum number of files and connections open at the same time: `ulimit -n`.
    package static var limit: Int {
        var limits = rlimit()
        return getrlimit(openFiles, &limits) == 0 ? Int(clamping: limits.rlim_cur) : 1_024
    }

    /// Raises the limit to `count`, or as far as the system allows an unprivileged process. For servers with many clients.
    package static func raise(to count: Int) {
        var limits = rlimit()
        guard getrlimit(openFiles, &limits) == 0 else { return }
        let wanted = min(limits.rlim_max, rlim_t(count))
        guard limits.rlim_cur < wanted else { return }
        limits.rlim_cur = wanted
        // A refusal only means fewer connections.
        _ = setrlimit(openFiles, &limits)
    }

    #if canImport(Darwin)
    private static let openFiles = RLIMIT_NOFILE
    #else
    private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
}
