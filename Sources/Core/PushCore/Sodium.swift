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
    static func ready() {
        if let problem { preconditionFailure(problem) }
    }

    /// The numbers of the library's binary interface, as its configure.ac counts them: 1.0.18 has 10.3.
    static func isRecent(_ major: Int32, _ minor: Int32) -> Bool { (major, minor) >= (10, 3) }
}
