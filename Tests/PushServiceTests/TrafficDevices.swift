import Foundation
import PushCore
import SealedPush
import TestSupport

@testable import PushService

/// A phone as traffic sees it.
struct TrafficDevice {
    let phone: Phone

    var store: any KeyStore { DeviceKeys(phone.items) }
    var markers: ConfirmationMarkers { phone.markers }
    /// The newest record.
    func record(at now: Timestamp) throws -> DeviceRecord { try phone.device.enroll(at: now) }

    /// Makes a new key, unless one waits already.
    func rotate(at now: Timestamp) throws {
        do throws(DeviceError) { _ = try phone.device.rotate(at: now) } catch {
            guard error == .unconfirmed else { throw error }
        }
    }

    /// What the app does when it runs.
    func maintain(at now: Timestamp) throws { _ = try phone.device.maintain(at: now) }

    func answer(_ challenge: String, at now: Timestamp) throws -> String {
        try phone.device.answer(challenge: challenge, at: now)
    }

    /// Every byte that is stored, in names too.
    func storedBytes() throws -> [UInt8] {
        try phone.wholeItems.flatMap { item in
            Array(item.account.utf8) + item.attributes + item.secret.withBytes { Array($0) }
        }
    }
}

extension DevicePrivateKey {
    /// How its secret might be written down: raw, hexadecimal, Base64 at each of its three offsets, Bech32.
    var traces: [[UInt8]] {
        let raw = withBytes { Array($0) }
        var traces = [raw, Array(Hex.encode(raw).utf8), Array(Hex.encode(raw).uppercased().utf8)]
        for offset in 0..<3 {
            // What neighbors have no part in.
            let text = Data([UInt8](repeating: 0, count: offset) + raw).base64EncodedString()
            let inner = Array(text.utf8.dropFirst(4).prefix(36))
            traces.append(inner)
            traces.append(
                inner.map {
                    $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
                })
        }
        let text = withSecretText { Array($0.dropFirst("PUSH-SECRET-KEY-1".utf8.count).prefix(50)) }
        return traces + [text, Array(String(decoding: text, as: UTF8.self).lowercased().utf8)]
    }

    /// Whether any of them, or a half of the raw key, is among the bytes.
    func isFound(in bytes: [UInt8]) -> Bool {
        let parts = [Array(traces[0].prefix(16)), Array(traces[0].suffix(16))]
        return (traces + parts).contains { Self.isPart($0, of: bytes) }
    }

    private static func isPart(_ needle: [UInt8], of bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { haystack in
            guard let base = haystack.baseAddress else { return false }
            var offset = 0
            while offset + needle.count <= haystack.count {
                let rest = haystack.count - needle.count - offset + 1
                guard let hit = memchr(base + offset, Int32(needle[0]), rest) else { return false }
                offset = base.distance(to: UnsafeRawPointer(hit))
                if memcmp(base + offset, needle, needle.count) == 0 { return true }
                offset += 1
            }
            return false
        }
    }
}
