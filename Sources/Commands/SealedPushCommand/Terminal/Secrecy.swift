internal import Foundation

/// Measures that keep this process's memory private when it crashes or is inspected.
enum Secrecy {
    /// Takes these measures. Call it first. For debugging, `SWIFT_BACKTRACE=enable=yes` turns all of them off.
    ///
    /// - Swift's crash report prints registers and the memory they point to, which would end up in a service's journal.
    ///   So the signals' default actions are restored.
    /// - There is no core file (setrlimit(2)). On Linux, the process is also not "dumpable", even if cores are piped to a
    ///   program (core(5)), so the user's other processes can't read its memory (ptrace(2), PR_SET_DUMPABLE in prctl(2)).
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
        // libdispatch would log a line for each thread whose priority it may not raise.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        #endif
    }

    #if !canImport(Darwin)
    private typealias ProcessControl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
    /// Swift can't call variadic C functions.
    private static let prctl = dlsym(nil, "prctl").map { unsafeBitCast($0, to: ProcessControl.self) }
    #endif
}
