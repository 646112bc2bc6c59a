#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The file at a path, by its number and device, which tells it from another file that took its place.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// Returns nil if the path leads to no file. A link is a file of its own.
    package init?(_ path: String) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return nil }
        (device, number) = (UInt64(truncatingIfNeeded: facts.st_dev), UInt64(truncatingIfNeeded: facts.st_ino))
    }
}
