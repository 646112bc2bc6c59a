#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A file whose number is no other's for as long as this is kept, whatever becomes of its name, its owner and its mode.
package final class HeldFile: Sendable {
    package let id: FileID
    #if !canImport(Darwin)
        private let descriptor: Int32
    #endif

    /// Nil where there is none, with the reason in `errno`.
    package init?(at path: String) {
        #if canImport(Darwin)
            // APFS never gives a number again (Apple File System Reference, apfs_next_obj_id), and no socket can be opened.
            guard let id = FileID(at: path) else { return nil }
        #else
            // Only held, and not opened, which a socket can't be (open(2), O_PATH). Linux gives the number of a file that is gone and
            // held by nobody to the next one.
            let descriptor = open(path, Self.pathOnly | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { return nil }
            guard let id = FileID(of: descriptor) else {
                close(descriptor)
                return nil
            }
            self.descriptor = descriptor
        #endif
        self.id = id
    }

    #if !canImport(Darwin)
        deinit { close(descriptor) }

        /// O_PATH, which Swift's module of the C library lacks (Linux, asm-generic/fcntl.h).
        private static let pathOnly: Int32 = 0o10_000_000
    #endif
}

/// Which file it is, whatever its name; another's soon after it is gone, where nobody holds it.
package struct FileID: Equatable, Sendable {
    private let device: UInt64
    private let number: UInt64
    package let isSocket: Bool

    private init(_ facts: stat) {
        device = UInt64(truncatingIfNeeded: facts.st_dev)
        number = UInt64(truncatingIfNeeded: facts.st_ino)
        isSocket = facts.st_mode & S_IFMT == S_IFSOCK
    }

    /// Of what the path itself names, be it a link. Nil where there is none, with the reason in `errno`.
    package init?(at path: String) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return nil }
        self.init(facts)
    }

    package init?(of descriptor: Int32) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return nil }
        self.init(facts)
    }
}

/// What the system lets this process have open.
package enum Descriptors {
    /// Files and connections at once: `ulimit -n`.
    package static var limit: Int {
        var limits = rlimit()
        return getrlimit(resource, &limits) == 0 ? Int(clamping: limits.rlim_cur) : 1_024
    }

    /// Allows as many as the system lets a process have without being asked, up to so many: for one that serves many callers.
    package static func raise(to count: Int) {
        var limits = rlimit()
        guard getrlimit(resource, &limits) == 0 else { return }
        let wanted = min(limits.rlim_max, rlim_t(count))
        guard limits.rlim_cur < wanted else { return }
        limits.rlim_cur = wanted
        // Where it is refused, there are fewer connections.
        _ = setrlimit(resource, &limits)
    }

    #if canImport(Darwin)
        private static var resource: Int32 { RLIMIT_NOFILE }
    #else
        private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
    #endif
}
