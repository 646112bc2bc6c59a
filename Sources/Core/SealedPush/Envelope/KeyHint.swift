internal import PushCore

/// Four bytes in an envelope that help a device find a key, and that reveal nothing to anyone without that key.
///
/// A hint isn't proof: any key may match it. A hint is a hash over the encapsulated key, too, so it changes with
/// that key. Source: Specification 3.2.
public struct KeyHint: Hashable, Sendable, CustomStringConvertible {
    package static let byteCount = 4
    package let bytes: [UInt8]

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = Array(bytes) }

    /// Hashes the label, the suite, `enc`, and the keys.
    fileprivate init(_ label: String, _ suite: Envelope.Suite, enc: ArraySlice<UInt8>, _ keys: [UInt8]...) {
        var hashed = Array(label.utf8) + [0, suite.rawValue] + enc
        for key in keys { hashed += key }
        self.init(hashed.withUnsafeBytes { SHA256.hash($0) }[..<Self.byteCount])
    }

    /// Eight lowercase hexadecimal digits.
    public var description: String { Hex.encode(bytes) }
}

extension Envelope.Suite {
    func hint(enc: ArraySlice<UInt8>, recipient: DevicePublicKey) -> KeyHint {
        KeyHint("sealedpush/v1 recipient hint", self, enc: enc, recipient.bytes)
    }

    func hint(enc: ArraySlice<UInt8>, recipient: DevicePublicKey, sender: SenderPublicKey) -> KeyHint {
        KeyHint("sealedpush/v1 sender hint", self, enc: enc, recipient.bytes, sender.bytes)
    }
}

extension Envelope {
    /// Whether the recipient hint matches this key.
    package func matches(_ recipient: DevicePublicKey) -> Bool {
        suite.fits(recipient) && suite.hint(enc: enc, recipient: recipient) == recipientHint
    }

    /// Whether the sender hint matches this sender, in an envelope for this recipient.
    package func matches(_ sender: SenderPublicKey, sealingTo recipient: DevicePublicKey) -> Bool {
        suite.fits(sender) && suite.hint(enc: enc, recipient: recipient, sender: sender) == senderHint
    }
}
