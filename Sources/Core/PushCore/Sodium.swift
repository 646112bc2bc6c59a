internal import Clibsodium

/// The one place where libsodium is made ready.
///
/// libsodium, "Usage": `sodium_init` may be called more than once and from any thread; `sodium_malloc` before it
/// aborts the process.
package enum Sodium {
    /// Why this machine's libsodium can't be used, for people to read; nil where all is well.
    ///
    /// A program says it when it starts, and ends. Costs one atomic load after the first time; safe from any thread.
    package static let problem: String? =
        if !isRecent(sodium_library_version_major(), sodium_library_version_minor()) {
            "libsodium \(String(cString: sodium_version_string())) is too old: 1.0.18 or newer is needed"
        } else if sodium_init() < 0 {
            "libsodium could not be initialized: the system gave no random numbers"
        } else {
            nil
        }

    /// Makes sure that libsodium is ready; traps where it can't be.
    static func ready() { if let problem { preconditionFailure(problem) } }

    /// The numbers of the library's binary interface, as its configure.ac counts them: 1.0.18 has 10.3.
    static func isRecent(_ major: Int32, _ minor: Int32) -> Bool { (major, minor) >= (10, 3) }
}

/// The system's C library, for all that import this module: its name is the one thing in it that differs everywhere.
#if canImport(Darwin)
    @_exported public import Darwin
#else
    @_exported public import Glibc
#endif

/// Comparisons whose time does not tell where two values differ.
package enum ConstantTime {
    /// Whether two byte strings are equal; takes time that depends on their lengths only, which are not secret.
    ///
    /// Source: libsodium, "Helpers", `sodium_memcmp`.
    package static func areEqual(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Bool {
        guard first.count == second.count else { return false }
        guard let left = first.baseAddress, let right = second.baseAddress else { return true }
        return sodium_memcmp(left, right, first.count) == 0
    }

    /// Whether two arrays hold the same bytes; see the other overload.
    package static func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.withUnsafeBytes { left in second.withUnsafeBytes { right in areEqual(left, right) } }
    }
}

/// Overwrites memory in a way that the compiler may not remove.
///
/// Source: explicit_bzero(3); on Apple's systems memset_s(3), C11 K.3.7.4.1.
package func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    #if canImport(Darwin)
        _ = memset_s(start, bytes.count, 0, bytes.count)
    #else
        explicit_bzero(start, bytes.count)
    #endif
}

/// Overwrites an array's own storage; where the array shares its storage, only this copy is wiped.
package func wipe(_ bytes: inout [UInt8]) { bytes.withUnsafeMutableBytes { wipe($0) } }

/// Random bytes from the system's generator, through libsodium.
///
/// There is no public way to put in other randomness: that is how nonces get repeated.
package enum SecureRandom {
    /// Fills `bytes` with random bytes; never fails (libsodium aborts the process when the system gives none).
    package static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        Sodium.ready()
        randombytes_buf(start, bytes.count)
    }

    /// Twice 16 random bytes that are not secret, by one call of the system, which costs more than the bytes.
    package static func pair() -> (Bytes16, Bytes16) {
        withUnsafeTemporaryAllocation(byteCount: 2 * Bytes16.byteCount, alignment: 8) { bytes in
            fill(bytes)
            let (first, second) = (bytes[..<Bytes16.byteCount], bytes[Bytes16.byteCount...])
            return (Bytes16(UnsafeRawBufferPointer(rebasing: first)), Bytes16(UnsafeRawBufferPointer(rebasing: second)))
        }
    }

    /// `count` random bytes that are not secret, as for an identifier.
    package static func bytes(count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { fill($0) }
        return bytes
    }
}

/// 16 bytes as a value.
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
