import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

@Suite("Secrecy on disk")
struct SecrecyTests {
    @Test("neither the file, its log, nor the log's index contains any byte of a message")
    func nothing() async throws {
        let fixture = try await Fixture()
        for number in 0..<3 { try await fixture.addDevice("d\(number)") }
        var content = Content(
            title: "Nina Sommerfeld", subtitle: "Private matter", body: "Lunch at one, at Luigi's?",
            data: ["table-number": "seventeen"])
        content.id = .random()
        content.collapseID = "conversation-with-nina"
        content.threadID = "thread-of-nina"
        content.category = "invitation-category"
        content.sound = .named("secret-bell.caf")
        let key = "request-about-nina"
        try await fixture.outbox.enqueue(
            OutgoingMessage(content, key: IdempotencyKey(key)), to: .everyone, from: fixture.sealer,
            includingUnverified: true)
        let secrets: [String] = [
            "Nina", "Sommerfeld", "Private matter", "Lunch", "Luigi", "table-number", "seventeen",
            try #require(content.id).description, "conversation-with-nina", "thread-of-nina", "invitation-category",
            "secret-bell", key,
        ]
        try search(fixture, for: secrets)
        // Half of them become dead letters and the rest is delivered; then the log is written into the file.
        try await fixture.deliver(ScriptedTransport(refusing: 413, "PayloadTooLarge"), until: .empty)
        try search(fixture, for: secrets)
        try await fixture.outbox.checkpoint()
        try search(fixture, for: secrets)
    }

    @Test("the files contain no part of the sender's key") func key() async throws {
        let fixture = try await Fixture()
        try await fixture.addDevice("phone")
        try await fixture.enqueue(to: .everyone)
        let text = fixture.sender.withSecretText { String(decoding: $0, as: UTF8.self) }
        try search(fixture, for: [String(text.suffix(50)), String(text.prefix(20))])
    }

    private func search(_ fixture: Fixture, for secrets: [String]) throws {
        let files = try Checkout.allFiles(in: fixture.folder.url)
        #expect(files.count == 3)
        var byteCount = 0
        for file in files {
            let bytes = try Data(contentsOf: file)
            byteCount += bytes.count
            for secret in secrets {
                for form in Self.forms(of: secret) {
                    #expect(bytes.range(of: form) == nil, "\(secret) is in \(file.lastPathComponent)")
                }
            }
        }
        // The search itself works: it finds public text.
        let isFound = try files.contains { try Data(contentsOf: $0).range(of: Data("com.example.app".utf8)) != nil }
        #expect(isFound)
        #expect(byteCount > 4_096)
    }

    /// The text as it is, in the encodings that a library might choose, and in lowercase.
    private static func forms(of secret: String) -> [Data] {
        let utf8 = Data(secret.utf8)
        var wide = Data()
        for unit in secret.utf16 { wide.append(contentsOf: [UInt8(unit & 0xff), UInt8(unit >> 8)]) }
        // Three alignments of base64, without the characters at the edges.
        let base64 = (0..<3).map { shift -> Data in
            let text = (Data(repeating: 0, count: shift) + utf8).base64EncodedString()
            return Data(text.dropFirst(shift == 0 ? 0 : 4).dropLast(4).utf8)
        }.filter { $0.count >= 8 }
        return [utf8, wide, Data(Hex.encode(Array(utf8)).utf8)] + base64
    }
}
