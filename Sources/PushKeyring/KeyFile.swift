internal import Foundation
internal import PushCrypto
package import SealedPush

/// One key as it stands in a file: a comment, then `name: value` lines. Wiped when it goes, as it may hold a secret.
struct KeyFile: ~Copyable {
    let kind: PublicKey.Kind
    let created: Timestamp
    private let contents: WipedBytes
    private let fields: [String: Range<Int>]

    /// More than any key file has; a larger file is damaged.
    static let maximumByteCount = 4_096

    /// Nil unless every line is known, none comes twice, and none is missing.
    init?(parsing bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count < Self.maximumByteCount else { return nil }
        let contents = WipedBytes(count: bytes.count) { $0.copyBytes(from: bytes) }
        guard let fields = contents.withBytes(Self.fields) else { return nil }
        guard fields.count == 3,
            let kind = Self.text(fields["kind"], of: contents).flatMap(PublicKey.Kind.init(rawValue:)),
            let created = Self.text(fields["created"], of: contents).flatMap(Self.moment)
        else { return nil }
        self.kind = kind
        self.created = created
        self.fields = fields
        self.contents = contents
    }

    private static func text(_ range: Range<Int>?, of contents: borrowing WipedBytes) -> String? {
        guard let range else { return nil }
        return contents.withBytes { String(decoding: $0[range], as: UTF8.self) }
    }

    private static func fields(_ bytes: UnsafeRawBufferPointer) -> [String: Range<Int>]? {
        var fields: [String: Range<Int>] = [:]
        for line in bytes.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line[colon...].count > 2,
                line[colon + 1] == UInt8(ascii: " ")
            else { return nil }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            guard fieldNames.contains(name), fields[name] == nil else { return nil }
            fields[name] = colon + 2..<line.endIndex
        }
        return fields
    }

    /// The public key that a public file holds.
    var publicKey: PublicKey? {
        guard let text = Self.text(fields["public"], of: contents), let key = try? PublicKey(parsing: text),
            key.kind == kind
        else { return nil }
        return key
    }

    /// The public key that belongs to a private file's secret.
    var publicKeyOfSecret: PublicKey? {
        switch kind {
        case .device: identity.map { .device($0.recipient) }
        case .sender: senderKey.map { .sender($0.sender) }
        }
    }

    var identity: Identity? { withSecret { try? Identity(parsing: $0) } }
    var senderKey: SenderKey? { withSecret { try? SenderKey(parsing: $0) } }

    private func withSecret<Key>(_ read: (UnsafeRawBufferPointer) -> Key?) -> Key? {
        guard let range = fields["secret"] else { return nil }
        return contents.withBytes { read(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// A public file.
    static func text(_ key: PublicKey, created: Timestamp) -> [UInt8] {
        let comment = "# A public key of Sealed Push: may be given to anyone.\n"
        return Array((comment + head(key.kind, created) + "public: \(key)\n").utf8)
    }

    /// A private file; the caller wipes it.
    static func text(kind: PublicKey.Kind, created: Timestamp, secret: UnsafeRawBufferPointer) -> [UInt8] {
        let comment = "# A secret key of Sealed Push. Whoever reads it has the key: never commit, send or print it.\n"
        let start = Array((comment + head(kind, created) + "secret: ").utf8)
        // One allocation: growing would leave the secret behind in memory.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(start.count + secret.count + 1)
        bytes += start
        bytes.append(contentsOf: secret)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private static func head(_ kind: PublicKey.Kind, _ created: Timestamp) -> String {
        "kind: \(kind.rawValue)\ncreated: \(created.iso8601)\n"
    }

    private static func moment(_ text: String) -> Timestamp? {
        guard let date = try? Date(text, strategy: .iso8601) else { return nil }
        return Timestamp(secondsSince1970: Int64(date.timeIntervalSince1970))
    }

    private static let fieldNames: Set<String> = ["kind", "created", "public", "secret"]
}

extension Timestamp {
    /// As `2026-01-31T12:00:00Z`.
    package var iso8601: String {
        Date(timeIntervalSince1970: TimeInterval(secondsSince1970)).formatted(.iso8601)
    }
}
