/// The bytes have the wrong length, aren't canonical, or are of low order. Reveals nothing about them.
package enum X25519Error: Error, Equatable { case invalidPublicKey }
