package import PushCore

/// HPKE's `info` for one purpose and one app, in each suite's form. Source: Specification 3.4.4, 3.8, and 11.5.1.
package struct EnvelopeInfo: Sendable {
    package let classical: HPKEInfo
    private let hybridStart: [UInt8]

    /// Creates the info for messages.
    package init(topic: Topic) { self.init("sealedpush/v1", topic) }

    init(_ label: String, _ topic: Topic) {
        classical = HPKEInfo(Array(label.utf8) + [0] + topic.description.utf8)
        hybridStart = Array("\(label) hybrid".utf8) + [0] + topic.description.utf8
    }

    /// Returns the info with the ML-KEM ciphertext as psk_id and appended to the topic.
    func hybrid(_ ciphertext: [UInt8]) -> HPKEInfo { HPKEInfo(hybridStart + ciphertext, pskID: ciphertext) }
}
