import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushService

@Suite("What may be fetched")
struct FetchingTests {
    /// Answers without a network, as it is told, and notes where it was sent.
    private final class Told: Fetching {
        let asked = Collected<String>()
        private let answers: [String: FetchAnswer]
        private let address: String?

        init(_ answers: [String: FetchAnswer] = [:], connectingTo address: String? = nil) {
            self.answers = answers
            self.address = address
        }

        func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer {
            asked.add(request.url.absoluteString)
            if let address = address.flatMap(IPAddress.init(text:)) { try request.mayConnect?(address) }
            guard let answer = answers[request.url.absoluteString] else { throw .network }
            if try request.wantsBody(answer) {
                try FetchingTests.lend(FetchingTests.content, request.take)
            }
            return answer
        }
    }

    private static let content = Array("what lies there".utf8)

    private static func lend(
        _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(MediaError) -> Void
    ) throws(MediaError) {
        let result = bytes.withUnsafeBytes { bytes -> Result<Void, MediaError> in
            do throws(MediaError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        try result.get()
    }

    private static let found = FetchAnswer(status: 200) { _ in nil }

    private static func redirect(_ target: String, status: Int = 302) -> FetchAnswer {
        FetchAnswer(status: status) { $0 == "Location" ? target : nil }
    }

    private func failure(
        _ url: String, by fetcher: any Fetching, private isPrivate: Bool = false,
        deadline: ContinuousClock.Instant = .now + .seconds(120)
    ) async throws -> MediaError? {
        let hash = BLAKE2b.hash(Self.content, byteCount: 32)
        let file = RemoteFile(
            url: try #require(URL(string: url)), byteCount: Self.content.count, hash: hash, key: nil)
        let download = FileDownload(
            file: file, rules: NetworkRules(allowsPrivateAddresses: isPrivate), fetcher: fetcher, deadline: deadline)
        let taken = Locked<[UInt8]>([])
        do throws(MediaError) {
            try await download.run { (bytes) throws(AttachmentError) in taken.withLock { $0.append(contentsOf: bytes) }
            }
        } catch {
            return error
        }
        #expect(taken.withLock { $0 } == Self.content)
        return nil
    }

    @Test("no request is made to where the rules don't let it go")
    func refused() async throws {
        for (url, expected) in [
            ("http://example.com/a", MediaError.notSecure), ("ftp://example.com/a", .notSecure),
            ("file:///etc/passwd", .addressRefused), ("https://10.0.0.1/a", .addressRefused),
            ("https://localhost/a", .addressRefused), ("https://nas.local/a", .addressRefused),
            ("https://user:password@example.com/a", .addressRefused),
        ] {
            let told = Told()
            #expect(try await failure(url, by: told) == expected, "\(url)")
            #expect(told.asked.all.isEmpty, "\(url)")
        }
    }

    @Test("each redirect is checked as the address itself is, and there are three at most")
    func redirects() async throws {
        let start = "https://example.com/1"
        for (target, expected) in [
            ("http://example.com/2", MediaError.notSecure), ("//192.168.1.1/router", .addressRefused),
            ("https://[::1]/", .addressRefused), ("https://user@example.com/2", .addressRefused),
            ("", .addressRefused), ("file:///etc/passwd", .addressRefused),
        ] {
            for status in [301, 302, 303, 307, 308] {
                let told = Told([start: Self.redirect(target, status: status)])
                #expect(try await failure(start, by: told) == expected, "\(target)")
                #expect(Set(told.asked.all) == [start], "\(target)")
            }
        }
        var chain: [String: FetchAnswer] = [:]
        for step in 1...3 { chain["https://example.com/\(step)"] = Self.redirect("\(step + 1)") }
        chain["https://example.com/4"] = Self.found
        #expect(try await failure(start, by: Told(chain)) == nil)
        chain["https://example.com/4"] = Self.redirect("https://example.org/5")
        chain["https://example.org/5"] = Self.found
        let told = Told(chain)
        #expect(try await failure(start, by: told) == .tooManyRedirects)
        #expect(told.asked.all.count == 4)
        #expect(try await failure(start, by: Told([start: Self.redirect("2", status: 300)])) == .status(300))
    }

    @Test("a name may look public: the connection's own address counts, unless the app allows private ones")
    func addresses() async throws {
        let url = "https://example.com/a"
        for address in ["10.0.0.1", "127.0.0.1", "::1", "fd00::1", "::ffff:192.168.0.1"] {
            let told = Told([url: Self.found], connectingTo: address)
            #expect(try await failure(url, by: told) == .addressRefused, "\(address)")
            #expect(try await failure(url, by: told, private: true) == nil, "\(address)")
        }
        #expect(try await failure(url, by: Told([url: Self.found], connectingTo: "1.1.1.1")) == nil)
    }

    @Test("what ships makes no exception; the simulator's fetcher makes one, for the machine that it is on")
    func exceptions() async throws {
        let loopback =
            [NetworkHost.name("localhost"), .name("a.localhost")] + Self.hosts("127.0.0.1", "::1", "127.8.8.8")
        let others =
            [NetworkHost.name("example.com"), .name("nas.local")] + Self.hosts("10.0.0.1", "1.1.1.1", "fd00::1")
        for host in loopback + others { #expect(!SessionFetching().exempts(host), "\(host)") }
        for loader in Loader.allCases {
            for host in loopback { #expect(loader.fetcher.exempts(host), "\(host)") }
            for host in others { #expect(!loader.fetcher.exempts(host), "\(host)") }
        }
        // Elsewhere the rules are as ever.
        let told = Told()
        let exempting = LoopbackFetching(fetcher: told)
        #expect(try await failure("http://10.0.0.1/a", by: exempting) == .notSecure)
        #expect(try await failure("https://10.0.0.1/a", by: exempting) == .addressRefused)
        #expect(told.asked.all.isEmpty)
        #expect(try await failure("http://localhost:8080/a", by: exempting) == .network)
        #expect(told.asked.all.count == 1)
    }

    private static func hosts(_ addresses: String...) -> [NetworkHost] {
        addresses.compactMap(IPAddress.init(text:)).map(NetworkHost.address)
    }
}
