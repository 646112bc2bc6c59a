/// HKDF with SHA-256, RFC 5869, on libsodium's HMAC-SHA-256 (libsodium before 1.0.19 has no HKDF).
package enum HKDF {
    package static let pseudorandomKeyByteCount = 32

    /// RFC 5869 section 2.2: writes the 32-byte pseudorandom key into `output`.
    package static func extract(
        salt: UnsafeRawBufferPointer, inputKeyMaterial parts: UnsafeRawBufferPointer...,
        into output: UnsafeMutableRawBufferPointer
    ) {
        var mac = HMACSHA256(key: salt)
        for part in parts { mac.update(part) }
        mac.finish(into: output)
    }

    /// RFC 5869 section 2.3: fills `output` (at most 8,160 bytes) from a pseudorandom key.
    package static func expand(
        _ pseudorandomKey: UnsafeRawBufferPointer, info parts: UnsafeRawBufferPointer...,
        into output: UnsafeMutableRawBufferPointer
    ) {
        expand(HMACSHA256(key: pseudorandomKey), info: parts, into: output)
    }

    /// Like ``expand(_:info:into:)``, from a MAC under the pseudorandom key. It remains unchanged, so that it serves any
    /// number of expansions.
    static func expand(
        _ keyed: borrowing HMACSHA256, info parts: [UnsafeRawBufferPointer], into output: UnsafeMutableRawBufferPointer
    ) {
        let blockByteCount = pseudorandomKeyByteCount
        precondition((1...255 * blockByteCount).contains(output.count), "HKDF outputs 1 to 8,160 bytes")
        withUnsafeTemporaryAllocation(byteCount: blockByteCount, alignment: 16) { block in
            defer { wipe(block) }
            var written = 0
            var counter: UInt8 = 0
            while written < output.count {
                var mac = HMACSHA256(copying: keyed)
                if counter > 0 { mac.update(UnsafeRawBufferPointer(block)) }
                for part in parts { mac.update(part) }
                counter += 1
                withUnsafeBytes(of: counter) { mac.update($0) }
                mac.finish(into: block)
                let length = min(blockByteCount, output.count - written)
                let target = UnsafeMutableRawBufferPointer(rebasing: output[written..<written + length])
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: block[..<length]))
                written += length
            }
        }
    }
}
