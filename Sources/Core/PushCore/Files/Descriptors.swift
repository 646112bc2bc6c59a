/// What the system lets this process have open.
package enum Descriptors {
    /// Files and connections at once: `ulimit -n`.
    package static var limit: Int {
        var limits = rlimit()
        #if canImport(Darwin)
            let status = getrlimit(RLIMIT_NOFILE, &limits)
        #else
            let status = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        #endif
        return status == 0 ? Int(clamping: limits.rlim_cur) : 1_024
    }

    /// Allows as many as the system lets a process have without being asked, up to so many: for one that serves many callers.
    package static func raise(to count: Int) {
        var limits = rlimit()
        #if canImport(Darwin)
            guard getrlimit(RLIMIT_NOFILE, &limits) == 0 else { return }
        #else
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return }
        #endif
        let wanted = min(limits.rlim_max, rlim_t(count))
        guard limits.rlim_cur < wanted else { return }
        limits.rlim_cur = wanted
        // Where it is refused, there are fewer connections.
        #if canImport(Darwin)
            _ = setrlimit(RLIMIT_NOFILE, &limits)
        #else
            _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        #endif
    }
}
