internal import PushCore

/// Tells a process from a child that fork(2) has made of it, whose memory is the same.
///
/// A process ID does not tell: where the first process of a container makes a child in a new namespace, both have the
/// number 1, and a kernel uses numbers again. The mark is a count of forks (pthread_atfork(3)), and on Linux a page that a
/// child finds empty, however it was made (madvise(2), `MADV_WIPEONFORK`, Linux 4.14); elsewhere the process ID as well.
/// Neither on Linux asks the kernel each time.
///
/// Not safe from many threads by itself. Takes a page of memory on Linux. Source: Specification 3.5.6.
final class ForkMark {
    private let forkCount: Int
    #if canImport(Darwin)
        private let processID = getpid()
    #else
        private let page: UnsafeMutableRawPointer
    #endif

    /// Nil where the system makes no such mark: then nothing may be kept that a child must not use again.
    init?() {
        guard ForkCount.isCounting else { return nil }
        forkCount = ForkCount.current
        #if !canImport(Darwin)
            let mapped = mmap(nil, Self.pageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            guard let mapped, mapped != MAP_FAILED else { return nil }
            guard madvise(mapped, Self.pageSize, Self.wipeOnFork) == 0 else {
                munmap(mapped, Self.pageSize)
                return nil
            }
            page = mapped
            page.storeBytes(of: 1, as: UInt8.self)
        #endif
    }

    deinit {
        #if !canImport(Darwin)
            munmap(page, Self.pageSize)
        #endif
    }

    /// False in every child, and in its children, for good.
    var isOfThisProcess: Bool {
        #if canImport(Darwin)
            forkCount == ForkCount.current && processID == getpid()
        #else
            forkCount == ForkCount.current && page.load(as: UInt8.self) == 1
        #endif
    }

    #if !canImport(Darwin)
        private static let pageSize = sysconf(Int32(_SC_PAGESIZE))
        /// `MADV_WIPEONFORK`, which Glibc's module leaves out.
        private static let wipeOnFork: Int32 = 18
    #endif
}

/// How many forks have led to this process since it was first asked.
private enum ForkCount {
    /// Written by a child alone, before it has a second thread.
    nonisolated(unsafe) private static var count = 0
    static let isCounting: Bool = pthread_atfork(nil, nil, { ForkCount.count += 1 }) == 0

    static var current: Int { count }
}
