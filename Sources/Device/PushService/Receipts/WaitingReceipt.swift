internal import PushCore
import SealedPush

/// A finished receipt as it lies in the queue: where to, from when on, and the bytes. No key.
struct WaitingReceipt: Hashable, Sendable {
    let address: ReceiptAddress
    let due: Timestamp
    /// 128 bytes.
    let body: [UInt8]

    init(address: ReceiptAddress, due: Timestamp, body: [UInt8]) {
        self.address = address
        self.due = due
        self.body = body
    }

    /// Nil unless it is as ``json`` makes it.
    init?(parsing bytes: [UInt8]) {
        guard let members = JSONReader.object(bytes, maximumByteCount: Self.maximumByteCount),
            let address = members["url"]?.string.flatMap(ReceiptAddress.init(parsing:)),
            let due = members["due"]?.integer.flatMap(Timestamp.init(secondsSince1970:)),
            let body = members["body"]?.string.flatMap({ Base64URL.decode($0.utf8) }),
            body.count == ReceiptBody.byteCount
        else { return nil }
        self.init(address: address, due: due, body: body)
        guard Self.isName(name) else { return nil }
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { object in
            object.string("url", address.description)
            object.integer("due", due.secondsSince1970)
            object.string("body", Base64URL.encode(body))
        }
        return writer.bytes
    }

    /// When it was made, so that names are in that order, and its number.
    var name: String {
        let (created, number) = ReceiptBody.createdAndNumber(of: body)
        let seconds = String(created)
        return String(repeating: "0", count: max(0, 12 - seconds.count)) + seconds + "." + Hex.encode(number)
    }

    /// Whether a file's name is one of theirs.
    static func isName(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].utf8.count == 12 && Int64(parts[0]) != nil && parts[1].utf8.count == 32
    }

    /// When it was made, in Unix seconds.
    static func created(inName name: String) -> Int64 { Int64(name.prefix(12)) ?? 0 }

    static let maximumByteCount = 1_024
}
