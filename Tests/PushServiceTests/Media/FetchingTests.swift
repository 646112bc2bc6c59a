import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushService

#if os(Linux)
import PushSimulator
#endif

@Suite("Permitted fetches") struct FetchingTests {
    /// Answers as it is told, without a network, and records the requests.
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
            if try request.wantsBody(answer) { try FetchingTests.lend(FetchingTests.content, request.take) }
            return answer
        }
    }

    private static let content = Array("the stored content".utf8)

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
        let file = RemoteFile(url: try #require(URL(string: url)), byteCount: Self.content.count, hash: hash, key: nil)
        let download = FileDownload(
            file: file, reach: isPrivate ? .everywhere : .internet, fetcher: fetcher, deadline: deadline)
        let taken = Locked<[UInt8]>([])
        do throws(MediaError) {
            try await download.run { (bytes) throws(AttachmentError) in taken.withLock { $0.append(contentsOf: bytes) }
            }
        } catch { return error }
        #expect(taken.withLock { $0 } == Self.content)
        return nil
    }

    @Test("No request is made to an address that the rules forbid") func refused() async throws {
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

    @Test("Each redirect is checked like the original address, and at most three are followed")
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

    @Test("For a public name, the connection's own address counts, unless the app allows private ones")
    func addresses() async throws {
        let url = "https://example.com/a"
        for address in ["10.0.0.1", "127.0.0.1", "::1", "fd00::1", "::ffff:192.168.0.1"] {
            let told = Told([url: Self.found], connectingTo: address)
            #expect(try await failure(url, by: told) == .addressRefused, "\(address)")
            #expect(try await failure(url, by: told, private: true) == nil, "\(address)")
        }
        #expect(try await failure(url, by: Told([url: Self.found], connectingTo: "1.1.1.1")) == nil)
    }

    @Test("Only the simulator's fetcher makes an exception, for the machine that it runs on")
    func exceptions() async throws {
        let loopback =
            [NetworkHost.name("localhost"), .name("a.localhost")] + Self.hosts("127.0.0.1", "::1", "127.8.8.8")
        let others =
            [NetworkHost.name("example.com"), .name("nas.local")] + Self.hosts("10.0.0.1", "1.1.1.1", "fd00::1")
        for host in loopback + others { #expect(!SessionFetching().exempts(host), "\(host)") }
        for loader in Loader.allCases {
            for host in loopback { #expect(loader.fetcher.exempts(host), "\(host)") }
            for host in others { #expect(!loader.fetcher.exempts(host), "\(host)") }
            #expect(loader.fetcher.patience == SessionFetching().patience)
        }
        // For other hosts, the rules apply as usual.
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

@Suite("The rules for an extension's requests") struct NetworkRulesTests {
    private func refusal(_ text: String, private isPrivate: Bool = false) -> MediaError? {
        do throws(MediaError) {
            try SessionFetching().check(URL(string: text)!, reaching: isPrivate ? .everywhere : .internet)
        } catch { return error }
        return nil
    }

    @Test(
        "Private, local, and reserved addresses are refused in every notation",
        arguments: [
            "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255",
            "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1",
            "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "[2002:c0a8:101::]",
            "[2001:2:0:1baa::a00:1]", "[2001:2::1]",
            "[fe80::1]", "[fc00::1]", "[fd12:3456::1]", "[ff02::1]", "[2001:db8::1]", "[::7f00:1]", "localhost",
            "LOCALHOST", "printer.local", "nas.lan", "router", "vault.internal", "box.home.arpa", "a.localhost",
            "localhost.",
            "192.168.1.1.",
        ])
    func refused(host: String) {
        #expect(refusal("https://\(host)/file") == .addressRefused)
        #expect(refusal("https://\(host):8443/file", private: true) == nil)
        #expect(refusal("http://\(host)/file") == .notSecure)
    }

    @Test(
        "The open internet is reached only by https",
        arguments: [
            "example.com", "1.1.1.1", "172.15.0.1", "172.32.0.1", "[2606:4700::1111]", "[2001:4860:4860::8888]",
            "[64:ff9b::101:101]", "[2001:2:0:1baa::101:101]", "xn--bcher-kva.example", "100.128.0.1",
            "files.example.co.uk.",
        ])
    func reached(host: String) {
        #expect(refusal("https://\(host)/file") == nil)
        #expect(refusal("http://\(host)/file") == .notSecure)
        #expect(refusal("http://\(host)/file", private: true) == .notSecure)
    }

    @Test("An app may allow fake IPs without the rest of a private network") func fakeIPs() throws {
        for host in ["198.18.0.1", "198.19.255.255", "[::ffff:198.18.0.1]", "10.0.0.1", "localhost", "nas.local"] {
            let url = try #require(URL(string: "https://\(host)/file"))
            let isReached = (try? SessionFetching().check(url, reaching: .internetAndFakeIPs)) != nil
            #expect(isReached == host.hasPrefix("198."), "\(host)")
        }
    }

    @Test(
        "A host that a loader might mistake for another is refused",
        arguments: [
            "%EF%BC%91%EF%BC%99%EF%BC%92.0.2.2", "192%EF%BC%8E0.2.2", "%E2%91%A092.0.2.2", "192.0.2.2%2F.example.com",
            "192.0.2.2%23.example.com", "192.0.2.2%40example.com", "192.0.2.2..", "a..example.com", "[v1.fe]",
            "exa_mple.com", "user@example.com", "user:password@192.0.2.2", ":@example.com",
        ])
    func oddHosts(host: String) {
        guard let url = URL(string: "https://\(host)/file") else { return }
        #expect(throws: MediaError.addressRefused) { try SessionFetching().check(url, reaching: .everywhere) }
    }
}

/// The fetchers under test.
enum Loader: String, CaseIterable, Sendable {
    /// The fetcher that ships. On Linux, it uses Foundation's loader, which isn't Apple's.
    case session
    #if os(Linux)
    /// The simulator's.
    case curl

    /// Foundation's loader keeps a core busy while it waits, so it's unsuitable for tests that run in parallel.
    static let standard = curl
    #else
    static let standard = session
    #endif

    /// A fetcher that reaches servers on this machine.
    var fetcher: any Fetching {
        switch self {
        case .session: LoopbackFetching(fetcher: SessionFetching())
        #if os(Linux)
        case .curl: CurlFetching()
        #endif
        }
    }

    /// Linux's own loader uses a core for up to a minute to detect an endless answer, so only a thorough run includes it.
    var bearsFloods: Bool {
        #if canImport(FoundationNetworking)
        self != .session || Thoroughness.isThorough
        #else
        true
        #endif
    }

    /// The servers to test it with: all of them, except on Linux before Foundation's loader.
    func bears(_ server: OddServer) -> Bool {
        #if canImport(FoundationNetworking)
        self != .session || (server.isBearable && (!server.isEndless || bearsFloods))
        #else
        true
        #endif
    }
}

/// A fetcher that also reaches servers on this machine.
struct LoopbackFetching: Fetching {
    let fetcher: any Fetching

    func exempts(_ host: NetworkHost) -> Bool { host.isLoopback }

    func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer { try await fetcher.fetch(request) }
}

/// Servers with odd or endless answers.
struct OddServer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let manner: MisbehavingServer.Manner
    /// Whether Linux's loader survives it. After trailers and a head that breaks off, it has no answer when the transfer
    /// ends, and with a length near 2^63 its arithmetic overflows: both end the whole process. It reads a redirect's whole
    /// body into memory before it asks whether to follow, and reads endless trailers, whatever it is told.
    let isBearable: Bool

    var isEndless: Bool { testDescription.hasPrefix("endless") }

    static let all = [
        OddServer("trailers", ok + chunked + "1\r\na\r\n0\r\nX-T: v\r\n\r\n", isBearable: false),
        OddServer("404 with trailers", "HTTP/1.1 404 X\r\n" + chunked + "0\r\nX-T: v\r\n\r\n", isBearable: false),
        OddServer(
            "huge length", ok + "Content-Length: 9223372036854775807\r\n\r\n", again: piece, isBearable: false),
        OddServer(
            "nearly huge length", ok + "Content-Length: 9223372036854775707\r\n\r\n", again: piece, isBearable: false),
        OddServer("a head that breaks off", "HTTP/1.1 204 X\r\nConnection: close\r\n", isBearable: false),
        OddServer("endless redirect", "HTTP/1.1 302 X\r\nLocation: /good\r\n\r\n", again: piece, isBearable: false),
        OddServer("endless 404", "HTTP/1.1 404 X\r\n\r\n", again: piece),
        OddServer("endless heads", ok, again: "X-A: b\r\n"), OddServer("endless head", ok + "X-A: ", again: piece),
        OddServer("endless 103", "", again: "HTTP/1.1 103 X\r\n\r\n"),
        OddServer("endless trailers", ok + chunked + "0\r\n", again: "X-A: b\r\n", isBearable: false),
        OddServer(
            "unauthorized", "HTTP/1.1 401 X\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 0\r\n\r\n"),
        OddServer("two lengths", ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
    ]

    private init(_ name: String, _ start: String, again: String = "", isBearable: Bool = true) {
        testDescription = name
        manner = .sends(start, again: again)
        self.isBearable = isBearable
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = "Transfer-Encoding: chunked\r\n\r\n"
    private static let piece = String(repeating: "a", count: 4_096)
}
