import Foundation
import NIOHTTP2
import TestSupport
import Testing

@testable import SimulatedAPNs

@Suite("The log of a local APNs", .serialized) struct LogTests {
    @Test("the log has the number of each connection that opens or closes") func connections() async throws {
        let apns = try await RunningAPNs()
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == 200)
        await client.close()
        #expect(try await apns.events("connection-closed").map { $0["connection"] as? Int } == [1])
        #expect(try await apns.events("connection-opened").map { $0["connection"] as? Int } == [1])
        await apns.server.stop()
    }

    @Test(
        "the log has plain text that arrives instead of TLS",
        arguments: [("GET / HTTP/1.1\r\n\r\n", "HTTP_REQUEST"), ("EHLO example.com\r\n", "WRONG_VERSION_NUMBER")])
    func plainText(text: String, word: String) async throws {
        let apns = try await RunningAPNs()
        let client = try await RawConnection(port: apns.address.port)
        client.send(Array(text.utf8))
        #expect(await client.wait { $0.isClosed })
        #expect(try await apns.events("handshake-failed").first?["error"] as? String == word)
        await apns.server.stop()
    }

    @Test("the log has a client that doesn't trust the certificate") func untrusted() async throws {
        let apns = try await RunningAPNs()
        let other = try await RunningAPNs()
        let client = try await WireClient(apns.address, trusting: other.address.root)
        #expect(await client.wait { $0.isClosed }.isClosed)
        #expect(try await apns.events("handshake-failed").count == 1)
        await apns.server.stop()
        await other.server.stop()
    }

    @Test("the log has a slow handshake and an excess connection") func limits() async throws {
        let full = try await RunningAPNs { $0.connectionLimit = 1 }
        let first = try await RawConnection(port: full.address.port)
        let extra = try await RawConnection(port: full.address.port)
        #expect(await extra.wait { $0.isClosed })
        #expect(try await full.events("connection-refused").count == 1)
        await first.close()
        await full.server.stop()
        let apns = try await RunningAPNs { $0.handshakeTimeout = .milliseconds(500) }
        let silent = try await RawConnection(port: apns.address.port)
        #expect(await silent.wait { $0.isClosed })
        #expect(try await apns.events("handshake-timeout").map { $0["connection"] as? Int } == [1])
        await apns.server.stop()
    }

    @Test("the log has slow requests, and a client's RST_STREAM and GOAWAY") func requests() async throws {
        let slowed = try await RunningAPNs { $0.requestTimeout = .milliseconds(500) }
        let slowClient = try await WireClient(slowed.address)
        let slow = slowClient.send(slowed.headers(), body: nil)
        #expect(await slowClient.wait { $0.reset.contains(slow) }.reset.contains(slow))
        #expect(try await slowed.events("request-timeout").map { $0["stream"] as? Int } == [Int(slow)])
        await slowed.server.stop()
        let apns = try await RunningAPNs()
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == 200)
        let taken = client.send(apns.headers(), body: nil)
        client.reset(taken)
        #expect(try await apns.events("peer-reset").map { $0["stream"] as? Int } == [Int(taken)])
        client.goAway()
        #expect(try await apns.events("peer-goaway").count == 1)
        await apns.server.stop()
    }

    @Test("the log has every value of repeated headers, but never a provider token") func repeated() async throws {
        let apns = try await RunningAPNs()
        let client = try await WireClient(apns.address)
        let headers = apns.headers([
            ("apns-priority", "10"), ("apns-priority", "5"), ("authorization", apns.authorization),
            ("apns-priority", "1"),
        ])
        let stream = client.send(headers, body: #"{"aps":{"alert":"x"}}"#)
        #expect(await client.wait { $0.ended.contains(stream) }.status[stream] == 400)
        let entry = try #require(try await apns.events("request").first)
        #expect((entry["headers"] as? [String: String])?["apns-priority"] == "10")
        #expect(entry["repeated-headers"] as? [String] == ["apns-priority: 5", "authorization", "apns-priority: 1"])
        await apns.server.stop()
    }
}

extension RunningAPNs {
    /// Returns the log's lines about an event, as soon as there are any; none after two minutes.
    func events(_ name: String) async throws -> [[String: Any]] {
        let file = folder.appending("APNs/log.jsonl")
        var lines: [[String: Any]] = []
        try await eventually("the log's \(name)") {
            lines = try LogFile.lines(file).filter { $0["event"] as? String == name }
            return !lines.isEmpty
        }
        return lines
    }
}

enum LogFile {
    static func lines(_ file: URL) throws -> [[String: Any]] {
        String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n").compactMap {
            (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
        }
    }
}
