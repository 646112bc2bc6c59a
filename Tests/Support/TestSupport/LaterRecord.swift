internal import PushCore
package import SealedPush

extension SignedList {
    /// Returns the list as a later version signs it: with one more key, of an algorithm that this version doesn't know.
    package func adding(
        _ key: [UInt8], algorithm: UInt8 = 9, isNewest: Bool = true, signedBy signer: PrivateKey<Role.Signer>
    ) throws(RecordError) -> SignedList {
        let text = description.utf8.dropFirst("pushrecord.".utf8.count)
        var bytes = Array((Base64URL.decode(text) ?? []).dropLast(64 + ArmoredText.checksumByteCount))
        let countPlace = 60 + Int(bytes[59])
        bytes[countPlace] += 1
        let listed = [algorithm, UInt8(key.count >> 8), UInt8(key.count & 255)] + key
        bytes.insert(contentsOf: listed, at: isNewest ? countPlace + 1 : bytes.count)
        bytes += signer.sign(Array("sealedpush/v1 record\0".utf8) + bytes)
        return try SignedList(parsing: "pushrecord." + Base64URL.encode(ArmoredText.appendingChecksum(to: bytes)))
    }
}
