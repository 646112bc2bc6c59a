import PushCore
import Testing

@testable import SealedPush

@Suite("Hexadecimal text")
struct HexTests {
    @Test("is small, and comes back as the same bytes")
    func roundTrip() {
        let bytes = [UInt8](0...255)
        #expect(Hex.encode([0x00, 0x0f, 0xa5, 0xff]) == "000fa5ff")
        #expect(Hex.decode(Hex.encode(bytes)) == bytes)
        #expect(Hex.decode(Hex.encode(bytes).uppercased()) == bytes)
        #expect(Hex.decode("") == [])
    }

    @Test(
        "of odd length or with other characters is refused", arguments: ["0", "0g", "g0", " 0", "0x", "-1", "٠٠", "é"])
    func refused(text: String) { #expect(Hex.decode(text) == nil) }
}
