/// A type that holds a 32-byte X25519 secret, and lends it to a closure while the closure runs.
package protocol X25519Secret: ~Copyable {
    var publicKey: X25519PublicKey { get }
    func withScalar<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result
}
