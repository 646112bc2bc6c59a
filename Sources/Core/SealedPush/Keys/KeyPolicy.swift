/// The keys that a device creates.
public enum KeyPolicy: Sendable {
    /// X25519.
    case classical
    /// X25519 with ML-KEM-768: pushes recorded today can't be read with a future quantum computer. Uses 1,088 bytes of each
    /// push, so about 1,840 bytes of content fit. Every server of the app must support such keys.
    case hybrid
    /// Like ``hybrid``, but once a message opens under a hybrid key, the device erases its retired classical keys. A server
    /// without the device's newest record then can't reach it, and its pushes show the safe default.
    case hybridOnly

    package var algorithm: KeyAlgorithm { self == .classical ? .x25519 : .hybrid }
}
