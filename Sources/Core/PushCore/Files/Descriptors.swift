#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What the system lets this process have open.
package enum Descriptors {
    /// Files and connections at once: `ulimit -n`.
    package static var limit: Int {
        var limits = rlimit()
        return getrlimit(openFiles, &limits) == 0 ? Int(clamping: limits.rlim_cur) : 1_024
    }

    /// Allows as many as the system lets a process have without being asked, up to so many: for one that serves many
    /// callers.
    package static func raise(to count: Int) {
        var limits = rlimit()
        guard getrlimit(openFiles, &limits) == 0 else { return }
        let wanted = min(limits.rlim_max, rlim_t(count))
        guard limits.rlim_cur < wanted else { return }
        limits.rlim_cur = wanted
        // Where it is refused, there are fewer connections.
        _ = setrlimit(openFiles, &limits)
    }

    #if canImport(Darwin)
        private static let openFiles = RLIMIT_NOFILE
    #else
        private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
}
