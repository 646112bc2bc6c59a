/// HPKE, RFC 9180: mode_auth and mode_auth_psk with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, and ChaCha20-Poly1305. Only
/// the modes that the envelope needs, which all authenticate the sender. See ``HPKEContext``.
package enum HPKE {
    /// RFC 9180 section 5, table 1.
    static let modeAuth: UInt8 = 0x02
    static let modeAuthPSK: UInt8 = 0x03
    /// RFC 9180 section 4.1: "KEM" ‖ I2OSP(kem_id, 2).
    static let kemSuiteID = Array("KEM".utf8) + [0x00, 0x20]
    /// RFC 9180 section 5.1: "HPKE" ‖ kem_id ‖ kdf_id ‖ aead_id, two bytes each.
    static let suiteID = Array("HPKE".utf8) + [0x00, 0x20, 0x00, 0x01, 0x00, 0x03]

    /// RFC 9180 section 4, `LabeledExtract`; writes 32 bytes.
    static func labeledExtract(
        _ suiteID: [UInt8], salt: UnsafeRawBufferPointer, label: StaticString,
        _ inputKeyMaterial: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) {
        suiteID.withUnsafeBytes { suiteID in
            HKDF.extract(
                salt: salt, inputKeyMaterial: version.bytes, suiteID, label.bytes, inputKeyMaterial, into: output)
        }
    }

    /// RFC 9180 section 4, `LabeledExpand`; fills `output`.
    static func labeledExpand(
        _ suiteID: [UInt8], _ pseudorandomKey: UnsafeRawBufferPointer, label: StaticString,
        _ info: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) {
        labeledExpand(suiteID, HMACSHA256(key: pseudorandomKey), label: label, info, into: output)
    }

    /// The same from a MAC under the pseudorandom key, which remains unchanged.
    static func labeledExpand(
        _ suiteID: [UInt8], _ keyed: borrowing HMACSHA256, label: StaticString, _ info: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) {
        let length = UInt16(output.count).bigEndian
        withUnsafeBytes(of: length) { length in
            suiteID.withUnsafeBytes { suiteID in
                HKDF.expand(keyed, info: [length, version.bytes, suiteID, label.bytes, info], into: output)
            }
        }
    }

    private static let version: StaticString = "HPKE-v1"
}
