internal import PushCore

/// What keeps this process's memory to itself when it ends, or is looked at.
enum Secrecy {
    /// Call first. Whoever looks for a fault says `SWIFT_BACKTRACE=enable=yes`, and is left with all of it.
    ///
    /// - Swift's own report of a crash prints registers and the memory that they point to, so into the journal of a service:
    ///   the signals get their plain actions back.
    /// - No core file: setrlimit(2). On Linux the process is not "dumpable" either, which holds also where a program takes
    ///   cores (core(5)), and keeps other processes of the same user out of its memory (ptrace(2), PR_SET_DUMPABLE in prctl(2)).
    static func begin() {
        if let wanted = getenv("SWIFT_BACKTRACE"), strstr(wanted, "enable=yes") != nil { return }
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV] { _ = signal(number, SIG_DFL) }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Darwin)
            setrlimit(RLIMIT_CORE, &none)
        #else
            setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
            // PR_SET_DUMPABLE is 4.
            _ = prctl?(4, 0, 0, 0, 0)
        #endif
    }

    #if !canImport(Darwin)
        private typealias ProcessControl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        /// Swift does not call C functions with variable arguments.
        private static let prctl = dlsym(nil, "prctl").map { unsafeBitCast($0, to: ProcessControl.self) }
    #endif
}
