internal import Clibsodium

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The only place that initializes libsodium. `sodium_init` may be called repeatedly and from any thread; calling
/// `sodium_malloc` before it aborts the process. Source: libsodium, "Usage".
package enum Sodium {
    /// A description of why this machine's libsodium can't be used, for people to read; nil if it can. A program prints it
    /// at launch and exits. Costs one atomic load after the first use. Thread-safe.
    package static let problem: String? =
        if !isRecent(sodium_library_version_major(), sodium_library_version_minor()) {
            "libsodium \(version) is too old; version 1.0.18 or later is required"
        } else if sodium_init() < 0 {
            "libsodium could not be initialized: the system's random number generator failed"
        } else {
            nil
        }

    /// Initializes libsodium if necessary; traps if that fails.
    static func ready() { if let problem { preconditionFailure(problem) } }

    /// The library's version, such as `1.0.18`.
    package static var version: String { String(cString: sodium_version_string()) }

    /// Whether the version of the library's binary interface suffices. In configure.ac's numbering, 1.0.18 is 10.3.
    static func isRecent(_ major: Int32, _ minor: Int32) -> Bool { (major, minor) >= (10, 3) }
}

/// Overwrites memory in a way that the compiler must not optimize away.
/// Source: explicit_bzero(3); on Apple's systems, memset_s(3), C11 K.3.7.4.1.
package func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    #if canImport(Darwin)
    _ = memset_s(start, bytes.count, 0, bytes.count)
    #else
    explicit_bzero(start, bytes.count)
    #endif
}

/// Overwrites an array's own storage. If the array shares its storage, only this copy is wiped.
package func wipe(_ bytes: inout [UInt8]) { bytes.withUnsafeMutableBytes { wipe($0) } }
