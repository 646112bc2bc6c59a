import Foundation

/// The CPU time that this process has used.
enum ProcessorTime {
    static func microseconds() -> Double {
        var usage = rusage()
        // 0 is RUSAGE_SELF, which is an enum with glibc and a number elsewhere.
        getrusage(0, &usage)
        func microseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e6 + Double(time.tv_usec) }
        return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
    }
}
