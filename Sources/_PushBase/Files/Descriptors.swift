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
}
