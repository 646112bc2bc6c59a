internal import Clibsodium

/// HMAC-SHA-256, RFC 2104. Its state is wiped on deallocation.
struct HMACSHA256: ~Copyable {
    static let byteCount = 32
    private let state: UnsafeMutablePointer<crypto_auth_hmacsha256_state>

    init(key: UnsafeRawBufferPointer) {
        Sodium.ready()
        state = .allocate(capacity: 1)
        crypto_auth_hmacsha256_init(state, key.bound, key.count)
    }

    /// Creates a copy, which goes on from the same state.
    init(copying other: borrowing HMACSHA256) {
        state = .allocate(capacity: 1)
        state.initialize(from: other.state, count: 1)
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        crypto_auth_hmacsha256_update(state, bytes.bound, UInt64(bytes.count))
    }

    consuming func finish(into output: UnsafeMutableRawBufferPointer) {
        precondition(output.count == Self.byteCount)
        crypto_auth_hmacsha256_final(state, output.bound)
    }

    deinit {
        wipe(UnsafeMutableRawBufferPointer(start: state, count: MemoryLayout<crypto_auth_hmacsha256_state>.size))
        state.deallocate()
    }
}
