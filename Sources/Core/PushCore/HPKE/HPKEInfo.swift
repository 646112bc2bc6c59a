/// An application's `info`, already hashed into the key schedule context of mode_auth: 65 bytes that are the same for
/// every message of one app, so they are worked out once.
///
/// Source: RFC 9180 section 5.1, `KeySchedule`.
package struct HPKEInfo: Sendable {
    /// mode ‖ psk_id_hash ‖ info_hash
    package let keyScheduleContext: [UInt8]

    package init(_ info: [UInt8]) {
        let hashByteCount = HKDF.pseudorandomKeyByteCount
        var context = [UInt8](repeating: 0, count: 1 + 2 * hashByteCount)
        context[0] = HPKE.modeAuth
        context.withUnsafeMutableBytes { context in
            // mode_auth has the default psk_id: empty.
            HPKE.labeledExtract(
                HPKE.suiteID, salt: .empty, label: "psk_id_hash", .empty,
                into: UnsafeMutableRawBufferPointer(rebasing: context[1...hashByteCount]))
            info.withUnsafeBytes { info in
                HPKE.labeledExtract(
                    HPKE.suiteID, salt: .empty, label: "info_hash", info,
                    into: UnsafeMutableRawBufferPointer(rebasing: context[(1 + hashByteCount)...]))
            }
        }
        keyScheduleContext = context
    }
}
