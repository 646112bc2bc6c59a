import Crypto
import Foundation

@testable import SealedPush

/// A hand-built record, signed by swift-crypto, right or wrong in any part. A second implementation of Specification 11.1.
struct RawRecord {
    var type: UInt8 = 1
    var version: UInt8 = 3
    var counter: UInt64 = 7
    var created = UInt64(Exchange.now.secondsSince1970)
    var expires = UInt64(Exchange.now.secondsSince1970) + 90 * 86_400
    /// nil for the type's usual number.
    var keeps: UInt8?
    var topic = Array("com.example.app".utf8)
    var keys: [[UInt8]] = [Array(Curve25519.KeyAgreement.PrivateKey().publicKey.rawRepresentation)]

    func unsigned(_ key: Curve25519.Signing.PrivateKey) -> [UInt8] {
        var bytes = [type, version] + Array(key.publicKey.rawRepresentation)
        for number in [counter, created, expires] { bytes += withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        bytes += [keeps ?? (type == 1 ? 30 : 0), UInt8(topic.count)] + topic
        bytes += [UInt8(keys.count)]
        return bytes + keys.flatMap { [1, 0, UInt8($0.count)] + $0 }
    }

    func signed(by key: Curve25519.Signing.PrivateKey = Curve25519.Signing.PrivateKey()) throws -> [UInt8] {
        let bytes = unsigned(key)
        return bytes + Array(try key.signature(for: Array("sealedpush/v1 record\0".utf8) + bytes))
    }

    func text(signedBy key: Curve25519.Signing.PrivateKey = Curve25519.Signing.PrivateKey()) throws -> String {
        Self.text(of: try signed(by: key))
    }

    /// Returns the text with a valid checksum.
    static func text(of bytes: [UInt8]) -> String {
        let checksum = Array(SHA256.hash(data: bytes).prefix(4))
        return "pushrecord."
            + Data(bytes + checksum).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

/// Returns the code with which a device's record is rejected, or nil if it parses.
func deviceRefusal(_ text: String) -> RecordError? {
    refusal { () throws(RecordError) in _ = try DeviceRecord(parsing: text) }
}

/// Returns the code with which a sender set is rejected, or nil if it parses.
func senderSetRefusal(_ text: String) -> RecordError? {
    refusal { () throws(RecordError) in _ = try SenderSet(parsing: text) }
}

/// Returns the error that `body` throws, or nil.
func refusal<Failure: Error>(_ body: () throws(Failure) -> Void) -> Failure? {
    do throws(Failure) {
        try body()
        return nil
    } catch { return error }
}

extension String {
    /// Returns the text with each bit of its UTF-8 flipped in turn.
    func bitFlips() -> [String] {
        var bytes = Array(utf8)
        return (0..<bytes.count * 8).map { bit in
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            defer { bytes[bit / 8] ^= 1 << UInt8(bit % 8) }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
