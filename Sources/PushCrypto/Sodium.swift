internal import Clibsodium

/// The one place where libsodium is made ready.
///
/// libsodium, "Usage": `sodium_init` may be called more than once and from any thread; `sodium_malloc` before it
/// aborts the process.
enum Sodium {
    /// Makes sure that libsodium is ready; costs one atomic load after the first call.
    static func ready() {
        precondition(isReady, "libsodium could not be initialised: the system gave no random numbers")
    }

    private static let isReady = sodium_init() >= 0
}
