package import PushCore

/// A sender's HPKE context and the header of its envelopes. Seals any number of plaintexts for one device.
/// Wiped on deallocation. Thread-safe. Source: Specification 3.4 and 3.5.
package struct SealingContext: ~Copyable, Sendable {
    private let suite: Envelope.Suite
    private let hpke: HPKEContext
    /// The header, with zeros for the number.
    private let header: [UInt8]

    /// Creates a context with a fresh ephemeral key; about 120 µs.
    package init(to recipient: DevicePublicKey, from sender: SenderPrivateKey, info: EnvelopeInfo) {
        guard let suite = Envelope.Suite.sealing(to: recipient, from: sender.sender) else {
            preconditionFailure("there is a suite for each device's key and a sender")
        }
        self.init(
            suite.sendingContext(to: recipient, from: sender, info: info), to: recipient, from: sender.sender,
            suite: suite)
    }

    package init(
        _ hpke: consuming HPKEContext, to recipient: DevicePublicKey, from sender: SenderPublicKey,
        suite: Envelope.Suite = .authenticated
    ) {
        let enc = hpke.enc[...]
        header =
            [suite.rawValue] + suite.hint(enc: enc, recipient: recipient).bytes
            + suite.hint(enc: enc, recipient: recipient, sender: sender).bytes + enc
            + [UInt8](repeating: 0, count: HPKENumber.byteCount) + hpke.pskID
        self.suite = suite
        self.hpke = hpke
    }

    /// Seals padded plaintext. A `number` given for a known-answer test must not be used for another plaintext. `random` is
    /// fresh bytes for the number, which must not be used for anything else.
    package func seal(
        _ plaintext: [UInt8], number: HPKENumber? = nil, random: Bytes16 = SecureRandom.pair().0
    ) -> Envelope {
        var bytes = [UInt8](repeating: 0, count: plaintext.count + suite.overheadByteCount)
        bytes.withUnsafeMutableBytes { bytes in
            plaintext.withUnsafeBytes { plaintext in
                bytes.copyBytes(from: header)
                (number ?? hpke.number(for: plaintext, random: random))
                    .write(into: UnsafeMutableRawBufferPointer(rebasing: bytes[suite.number]))
                hpke.seal(
                    plaintext, additionalData: UnsafeRawBufferPointer(rebasing: bytes[..<header.count]),
                    number: HPKENumber(UnsafeRawBufferPointer(rebasing: bytes[suite.number])),
                    into: UnsafeMutableRawBufferPointer(rebasing: bytes[header.count...]))
            }
        }
        return Envelope(suite: suite, bytes: bytes)
    }
}
