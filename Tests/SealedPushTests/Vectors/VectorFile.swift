import Foundation
import PushSender
import TestSupport
import Testing

/// One case of Tests/Vectors: comment lines, then `name: value` lines.
struct VectorFile: Sendable {
    let name: String
    private let fields: [String: String]
    /// In the order of the file: `identity`, `identity2`, …
    let identities: [String]
    let senders: [String]

    /// Names that a case may use; any other is an error, so that a typing error can't hide a check.
    private static let known: Set<String> = [
        "topic", "allow-anonymous", "now", "field", "payload", "outcome", "content", "plaintext-bytes",
        "ephemeral-secret", "enc", "shared-secret", "key", "base-nonce", "nonce", "aad", "plaintext", "ciphertext",
        "sender-secret", "number", "tag", "box-key", "ledger-key", "header-key", "apns-id", "apns-collapse-id",
    ]

    struct Unusable: Error, CustomStringConvertible { let description: String }

    init(_ file: URL) throws {
        name = file.lastPathComponent
        var fields: [String: String] = [:]
        var identities: [String] = []
        var senders: [String] = []
        for line in try Checkout.text(file).split(separator: "\n") where !line.hasPrefix("#") {
            guard let colon = line.firstRange(of: ": ") ?? line.firstRange(of: ":") else {
                throw Unusable(description: "\(name): a line without a colon")
            }
            let key = String(line[..<colon.lowerBound])
            let value = String(line[colon.upperBound...])
            let kind = key.trimmingCharacters(in: .decimalDigits)
            if kind == "identity" {
                identities.append(value)
            } else if kind == "sender" {
                senders.append(value)
            } else {
                guard Self.known.contains(key), fields[key] == nil else {
                    throw Unusable(description: "\(name): \(key)")
                }
                fields[key] = value
            }
        }
        self.fields = fields
        self.identities = identities
        self.senders = senders
    }

    subscript(_ name: String) -> String? { fields[name] }

    func required(_ key: String) throws -> String {
        guard let value = fields[key] else { throw Unusable(description: "\(name) has no \(key)") }
        return value
    }

    static func all() throws -> [VectorFile] {
        // Those of records, in a folder of their own, have other names and their own test.
        try Checkout.files(in: "Tests/Vectors", ending: ".txt")
            .filter { $0.deletingLastPathComponent().lastPathComponent == "Vectors" }
            .map { try VectorFile($0) }
    }
}

extension VectorFile: CustomTestStringConvertible {
    var testDescription: String { name }
}
