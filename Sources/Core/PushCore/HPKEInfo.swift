/// An application's `info`, already hashed into the 65-byte key schedule context. In mode_auth it is the same for every
/// message of an app, so it is computed once. Source: RFC 9180 section 5.1, `KeySchedule`.
package struct HPKEInfo: Sendable {
    /// mode ‖ psk_id_hash ‖ info_hash
    package let keyScheduleContext: [UInt8]
    let pskID: [UInt8]

    /// - Parameter pskID: the pre-shared key's ID for mode_auth_psk; empty for mode_auth.
    package init(_ info: [UInt8], pskID: [UInt8] = []) {
        let hashByteCount = HKDF.pseudorandomKeyByteCount
        var context = [UInt8](repeating: 0, count: 1 + 2 * hashByteCount)
        context[0] = pskID.isEmpty ? HPKE.modeAuth : HPKE.modeAuthPSK
        context.withUnsafeMutableBytes { context in
            pskID.withUnsafeBytes { pskID in
                HPKE.labeledExtract(
                    HPKE.suiteID, salt: .empty, label: "psk_id_hash", pskID,
                    into: UnsafeMutableRawBufferPointer(rebasing: context[1...hashByteCount]))
            }
            info.withUnsafeBytes { info in
                HPKE.labeledExtract(
                    HPKE.suiteID, salt: .empty, label: "info_hash", info,
                    into: UnsafeMutableRawBufferPointer(rebasing: context[(1 + hashByteCount)...]))
            }
        }
        keyScheduleContext = context
        self.pskID = pskID
    }
}
