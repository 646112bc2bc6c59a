package import PushCore

/// HPKE's `info` for one purpose and one app, in the form of each suite. Source: Specification 3.4.4, 3.8 and 11.5.1.
package struct EnvelopeInfo: Sendable {
    package let classical: HPKEInfo
    private let hybridStart: [UInt8]

    /// For messages.
    package init(topic: Topic) { self.init("sealedpush/v1", topic) }

    init(_ label: String, _ topic: Topic) {
        classical = HPKEInfo(Array(label.utf8) + [0] + topic.description.utf8)
        hybridStart = Array("\(label) hybrid".utf8) + [0] + topic.description.utf8
    }

    /// With the ML-KEM ciphertext as psk_id, and behind the topic.
    func hybrid(_ ciphertext: [UInt8]) -> HPKEInfo { HPKEInfo(hybridStart + ciphertext, pskID: ciphertext) }
}
