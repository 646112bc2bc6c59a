#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The time that this thread spends computing in `body`, however busy the machine is.
public func processorTime(_ body: () throws -> Void) rethrows -> Duration {
    let start = ownProcessorTime()
    try body()
    return ownProcessorTime() - start
}

private func ownProcessorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
}
