import NIOCore
import NIOHPACK
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushAPNs

/// Decodes with SwiftNIO's own HPACK decoder.
@Suite("Header blocks") struct HeaderEncoderTests {
    @Test("values that repeat are added to HPACK's table, and changing ones aren't") func indexing() throws {
        var peer = Peer()
        let first = try peer.headers(for: Rig.request(1, expiration: .now()))
        #expect(first[":authority"] == ["api.push.apple.com"])
        let once = [":path", "apns-id", "apns-collapse-id", "apns-expiration"]
        for number in 2..<6 {
            let later = try peer.headers(for: Rig.request(number, expiration: .now()))
            #expect(later.map { $0.name }.sorted() == first.map { $0.name }.sorted())
            for header in later {
                #expect((header.indexable == .nonIndexable) == once.contains(header.name), "\(header.name)")
            }
        }
        // 64 digits of a token, a UUID, a collapse ID, and ten digits of a time. Little else remains.
        #expect(peer.lastByteCount < 64 + 36 + 10 + 10 + 30)
    }

    @Test("each push has its own fields, for any sequence of topics, priorities, tokens, and expirations")
    func changes() throws {
        var peer = Peer()
        var random = SeededGenerator()
        for number in 0..<2_000 {
            let topic = Topic(parsing: "com.example.app\(Int.random(in: 0..<12, using: &random))") ?? Rig.topic
            let priority = Bool.random(using: &random) ? PushPriority.immediate : .considerate
            let expiration = Bool.random(using: &random) ? Timestamp(clamping: 1_900_000_000) : nil
            let base = Rig.request(number)
            let isBackground = Bool.random(using: &random)
            let body =
                isBackground ? Array(#"{"aps":{"content-available":1},"custom-encrypted-message":""#.utf8) : base.body
            let request = PushRequest(
                address: base.address, body: body, topic: topic, apnsID: base.apnsID, collapseID: base.collapseID,
                priority: priority, expiration: expiration)
            let headers = try peer.headers(for: request, tokenGeneration: number / 100)
            let expected: [(String, String?)] = [
                (":method", "POST"), (":scheme", "https"), (":authority", "api.push.apple.com"),
                (":path", "/3/device/" + request.address.hexadecimal),
                ("authorization", "bearer number-\(number / 100)" + String(repeating: "j", count: 200)),
                ("apns-topic", topic.description), ("apns-push-type", isBackground ? "background" : "alert"),
                ("apns-priority", priority == .immediate ? "10" : "5"), ("apns-id", request.apnsID),
                ("apns-collapse-id", request.collapseID), ("apns-expiration", expiration.map { _ in "1900000000" }),
            ]
            #expect(headers.count == expected.filter { $0.1 != nil }.count)
            for (name, value) in expected { #expect(headers[name] == (value.map { [$0] } ?? []), "\(number): \(name)") }
        }
    }

    @Test(
        "the encoder follows the peer's table size, however often it changes",
        arguments: [[0], [100], [4_096], [1_000_000], [300, 4_096], [0, 4_096, 200, 600], [4_096, 33, 4_096]])
    func tableSizes(sizes: [Int]) throws {
        var peer = Peer()
        for number in 0..<3 { _ = try peer.headers(for: Rig.request(number)) }
        for size in sizes {
            peer.limitTable(to: size)
            for number in 0..<4 { try peer.expectRoundTrip(number) }
        }
        // Several changes between two pushes.
        for size in sizes + sizes.reversed() { peer.limitTable(to: size) }
        for number in 0..<4 { try peer.expectRoundTrip(number) }
    }

    @Test("fields of every length are read back, however many bytes encode the length") func lengths() throws {
        var peer = Peer()
        for length in [1, 2, 63, 64, 100] {
            let base = Rig.request(length)
            let token = try #require(DeviceToken(parsing: String(repeating: "ab", count: length)))
            let request = PushRequest(
                address: .apns(token), body: base.body, topic: Rig.topic, apnsID: base.apnsID,
                collapseID: String(repeating: "c", count: length), priority: .immediate, expiration: nil)
            let headers = try peer.headers(for: request)
            #expect(headers[":path"] == ["/3/device/" + token.description])
            #expect(headers["apns-collapse-id"] == [request.collapseID])
        }
    }

    /// Decodes the encoder's output.
    private struct Peer {
        private var encoder = HeaderEncoder(endpoint: .production)
        private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        private(set) var lastByteCount = 0

        mutating func limitTable(to byteCount: Int) { encoder.limitTable(to: byteCount) }

        mutating func headers(for request: PushRequest, tokenGeneration: Int = 1) throws -> HPACKHeaders {
            let token = ProviderToken(
                authorization: "bearer number-\(tokenGeneration)" + String(repeating: "j", count: 200),
                generation: tokenGeneration, issued: Moment(uptime: .now(), wall: .now()))
            var bytes = ByteBuffer()
            encoder.write(request, token, to: &bytes)
            lastByteCount = bytes.readableBytes
            return try decoder.decodeHeaders(from: &bytes)
        }

        mutating func expectRoundTrip(_ number: Int) throws {
            let request = Rig.request(number)
            let headers = try headers(for: request)
            #expect(headers["apns-id"] == [request.apnsID])
            #expect(headers["authorization"].first?.hasPrefix("bearer number-1") == true)
            #expect(headers["apns-topic"] == ["com.example.app"])
            #expect(headers.count == 10)
        }
    }
}
