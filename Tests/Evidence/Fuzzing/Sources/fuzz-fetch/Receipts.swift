import Foundation
import FuzzSupport

@testable import PushSender
@testable import SealedPush

/// Devices' posts: only receipts that were MACed under the device's own key are accepted, as ContentParts 16.5 requires.
/// And a message's receipt request: after reading and writing, it is the same.
///
/// The input's first byte selects any body, fields to MAC, the same with a bit flipped, an address, or a content value.
func fuzzReceipt(_ input: inout Input) {
    switch input.byte() % 5 {
    case 0: refuse(input.bytes)
    case 1: receive(&input)
    case 2: flip(&input)
    case 3: checkReceiptAddress(String(decoding: input.bytes, as: UTF8.self))
    default: checkRequest(input.bytes)
    }
}

private let now = Timestamp(clamping: 1_760_000_000)
private let receiptKey: ReceiptKey = {
    let secret = NamedLines(published: "test-newsroom").required("secret")
    do { return ReceiptKey(of: try SenderPrivateKey(parsing: secret), for: "com.example.app") } catch {
        fatalError("a test key is unusable: \(error)")
    }
}()
private let receiver = ReceiptReceiver(keys: [receiptKey])

func refuse(_ body: [UInt8]) {
    do {
        _ = try receiver.receive(body, at: now)
        fatalError("a receipt that no one created is accepted")
    } catch {
        demand((error == .wrongSize) == (body.count != 128), "\(error) of \(body.count) bytes")
        demand([.wrongSize, .unknownVersion, .rejected].contains(error), "\(error), where the MAC can't hold")
    }
}

/// A second implementation of ContentParts 16.2 and 16.5.
func receive(_ input: inout Input) {
    let body = made(&input)
    let created = body[33..<41].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let expected: ReceiptError?
    if created > 253_402_300_799 || body[41] != 1 {
        expected = .malformed
    } else if Int64(created) < now.secondsSince1970 - 7 * 86_400 {
        expected = .tooOld
    } else {
        expected = Int64(created) > now.secondsSince1970 + 26 * 3_600 ? .clock : nil
    }
    do {
        let receipt = try receiver.receive(body, at: now)
        demand(expected == nil, "a receipt is accepted that is \(String(describing: expected))")
        demand(receipt.id.bytes == Array(body[1..<17]) && receipt.number == Array(body[17..<33]), "another's receipt")
        let counts = (0..<25).map { Int(body[46 + 2 * $0]) << 8 | Int(body[47 + 2 * $0]) }
        let sum = receipt.failures.values.reduce(0, +) + receipt.otherFailureCount
        demand(sum == counts.reduce(0, +), "\(sum) did not open")
    } catch { demand(error == expected, "\(error) instead of \(String(describing: expected))") }
}

func flip(_ input: inout Input) {
    var body = made(&input)
    let bit = input.number(below: 128 * 8)
    body[bit / 8] ^= 1 << (bit % 8)
    refuse(body)
}

/// Returns 96 bytes as a device would write them, except for the times, numbers, and MAC.
private func made(_ input: inout Input) -> [UInt8] {
    let choice = input.byte()
    let offset = Int64(truncatingIfNeeded: input.word()) >> Int64(choice % 64)
    let created = UInt64(bitPattern: now.secondsSince1970 &+ offset)
    var fields = input.take(16 + 16 + 4 + 50)
    fields += [UInt8](repeating: 0, count: 86 - fields.count)
    var body: [UInt8] = [1] + fields[..<32]
    body += withUnsafeBytes(of: created.bigEndian) { Array($0) }
    body.append(choice & 0x80 == 0 ? 1 : input.byte())
    body += fields[32...]
    let key = receiptKey.key(of: ReceiptID(Array(body[1..<17])))
    let mac = RawHash.blake2b(Array("sealedpush/v1 receipt".utf8) + [0] + body, key: key, byteCount: 32)
    return body + mac
}

/// A device posts with a loader that parses the address in its own way, but must find the same host.
func checkReceiptAddress(_ text: String) {
    guard let address = ReceiptAddress(parsing: text) else { return }
    demand(address.description == text && text.utf8.count <= 256, "an address has changed")
    let isLoopback = ContentURL.loopbackHosts.contains(address.host)
    demand(address.isSecure || isLoopback, "receipts go unencrypted to \(address.host)")
    guard let url = URL(string: text) else { return }
    demand(url.scheme == (address.isSecure ? "https" : "http"), "\(text) has the scheme \(url.scheme ?? "none")")
    demand(url.user() == nil && url.password() == nil, "\(text) has a user")
    let host = (url.host() ?? "").lowercased()
    let bare = address.host.hasPrefix("[") ? String(address.host.dropFirst().dropLast()) : address.host
    demand(host == bare || host == address.host, "\(text) has the host \(host), and not \(address.host)")
}

func checkRequest(_ bytes: [UInt8]) {
    guard let members = JSONReader.object(bytes, maximumByteCount: 4_096),
        let request = try? ReceiptRequest(.object(members))
    else { return }
    demand((try? ReceiptRequest(request.json)) == request, "the request changes when written and read again")
    demand(request.key.count == 32 && request.id.bytes.count == 16, "a key or ID has the wrong length")
    checkReceiptAddress(request.address.description)
}
