internal import Clibsodium

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

/// The system's C library, for all importers of this module, since only its name differs between systems.
#if canImport(Darwin)
    @_exported public import Darwin
#else
    @_exported public import Glibc
#endif

/// Comparisons whose time doesn't reveal where two values differ.
package enum ConstantTime {
    /// Whether two byte strings are equal. The time depends only on their lengths, which aren't secret.
    /// Source: libsodium, "Helpers", `sodium_memcmp`.
    package static func areEqual(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Bool {
        guard first.count == second.count else { return false }
        guard let left = first.baseAddress, let right = second.baseAddress else { return true }
        return sodium_memcmp(left, right, first.count) == 0
    }

    /// Whether two arrays contain the same bytes; see the other overload.
    package static func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.withUnsafeBytes { left in second.withUnsafeBytes { right in areEqual(left, right) } }
    }
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

/// Random bytes from the system's generator, through libsodium. There is no public way to supply other randomness, which is
/// how nonces get repeated.
package enum SecureRandom {
    /// Fills `bytes` with random bytes. Never fails: libsodium aborts the process if the system provides none.
    package static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        Sodium.ready()
        randombytes_buf(start, bytes.count)
    }

    /// Returns two sets of 16 random bytes that aren't secret, in one system call, which costs more than the bytes.
    package static func pair() -> (Bytes16, Bytes16) {
        withUnsafeTemporaryAllocation(byteCount: 2 * Bytes16.byteCount, alignment: 8) { bytes in
            fill(bytes)
            let (first, second) = (bytes[..<Bytes16.byteCount], bytes[Bytes16.byteCount...])
            return (Bytes16(UnsafeRawBufferPointer(rebasing: first)), Bytes16(UnsafeRawBufferPointer(rebasing: second)))
        }
    }

    /// Returns `count` random bytes that aren't secret, for an identifier, for example.
    package static func bytes(count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { fill($0) }
        return bytes
    }
}

package struct Bytes16: Sendable {
    package static let byteCount = 16
    private let words: (UInt64, UInt64)

    init(_ bytes: UnsafeRawBufferPointer) {
        words = (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: words, body)
    }
}
