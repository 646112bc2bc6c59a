import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushService

/// Tests the shipping fetcher and the simulator's with the same servers. They run one at a time and without a time limit,
/// because Linux's own loader needs a core for itself.
@Suite("Each loader before hostile servers", .serialized) struct HostileServerTests {
    private let server: MisbehavingServer
    private let folder: TemporaryFolder
    private let content = MediaStageTests.png()

    init() throws {
        server = try MisbehavingServer()
        folder = try TemporaryFolder()
    }

    private func download(
        by loader: Loader, isPlain: Bool = false, deadline: Duration = .seconds(600),
        _ manner: ([UInt8]) -> MisbehavingServer.Manner
    ) async throws -> Result<[UInt8], MediaError> {
        let (original, sealed) = (folder.appending("original"), folder.appending(UUID().uuidString))
        try Data(content).write(to: original)
        let url = server.url("file", .hangs)
        let attachment = try Sealer.sealAttachment(original, to: sealed, at: url, id: "a", type: .png, isPlain: isPlain)
        let stored = [UInt8](try Data(contentsOf: sealed))
        _ = server.url("file", manner(stored))
        _ = server.url("real", .serves(stored))
        let bytes = Locked<[UInt8]>([])
        let download = FileDownload(
            file: attachment.file, reach: .internet, fetcher: loader.fetcher, deadline: .now + deadline)
        do throws(MediaError) {
            try await download.run { (piece) throws(AttachmentError) in bytes.withLock { $0.append(contentsOf: piece) }
            }
        } catch {
            try await eventually("the connections are closed") { server.connectionCount == 0 }
            return .failure(error)
        }
        return .success(bytes.withLock { $0 })
    }

    @Test("A file arrives as stored, even slowly, after a redirect, or without a key", arguments: Loader.allCases)
    func good(loader: Loader) async throws {
        #expect(try await download(by: loader) { .serves($0) } == .success(content))
        #expect(try await download(by: loader) { _ in .redirects(to: "/real") } == .success(content))
        #expect(try await download(by: loader, isPlain: true) { .serves($0) } == .success(content))
        let slow = try await download(by: loader) { .drips($0, after: $0.count - 20, every: .milliseconds(5)) }
        #expect(slow == .success(content))
        let head = try #require(server.heads.first)
        let lines = head.split(separator: "\r\n").map { $0.lowercased() }
        #expect(lines.first == "get /file http/1.1")
        for line in ["user-agent: sealed-push", "accept-language: *", "accept-encoding: identity"] {
            #expect(lines.contains(line), "\(lines)")
        }
        let names = Set(lines.dropFirst().map { $0.prefix { $0 != ":" } })
        let known: Set<Substring> = [
            "host", "accept", "accept-language", "accept-encoding", "user-agent", "connection",
        ]
        #expect(names.isSubset(of: known), "\(lines)")
    }

    @Test(
        "Whatever a server does with a file, it is refused for the right reason, and the connection is closed",
        arguments: Loader.allCases)
    func bad(loader: Loader) async throws {
        let cases: [(String, MediaError, ([UInt8]) -> MisbehavingServer.Manner)] = [
            ("altered", .file(.altered), { .serves($0.reversed()) }),
            ("cut", .network, { .cuts($0, after: $0.count / 2) }),
            ("short", .file(.cut), { .serves(Array($0.dropLast())) }),
            ("long", .file(.tooLarge), { .lies($0 + $0, contentLength: $0.count * 2) }),
            ("flood", .file(.tooLarge), { .floods($0) }),
            ("packed", .file(.altered), { .servesWith($0, header: "Content-Encoding: gzip") }),
            ("loop", .tooManyRedirects, { _ in .redirects(to: "/file") }),
            ("missing", .status(404), { _ in .answers(status: 404) }), ("babble", .network, { _ in .babbles }),
            ("elsewhere", .notSecure, { _ in .redirects(to: "http://192.0.2.1/") }),
            ("into the house", .addressRefused, { _ in .redirects(to: "https://10.0.0.1/router") }),
        ]
        for (name, expected, manner) in cases where loader.bearsFloods || !["flood", "babble"].contains(name) {
            let result = try await download(by: loader, isPlain: name == "flood", manner)
            #expect(result == .failure(expected), "\(name)")
        }
    }

    @Test("An odd or endless answer ends as an error, without a trap or more memory", arguments: OddServer.all)
    func odd(server odd: OddServer) async throws {
        for loader in Loader.allCases where loader.bears(odd) {
            let result = try await download(by: loader, isPlain: true) { _ in odd.manner }
            #expect(throws: MediaError.self, "\(loader)") { try result.get() }
        }
    }

    @Test("A server that hangs is abandoned at the deadline and when the task is canceled", arguments: Loader.allCases)
    func hanging(loader: Loader) async throws {
        for manner in [MisbehavingServer.Manner.hangs, .lies([1], contentLength: 100)] {
            let result = try await download(by: loader, deadline: .milliseconds(300)) { _ in manner }
            guard case .failure(let error) = result else {
                Issue.record("the file has arrived")
                continue
            }
            // The second server announces a length that isn't the file's.
            #expect(error == .network || error == .file(.cut))
        }
        let url = server.url("canceled", .hangs)
        let task = Task { try await loader.fetcher.answer(to: FetchRequest(url: url, deadline: .now + .seconds(600))) }
        try await eventually("the server is asked") { server.requests.contains("/canceled") }
        task.cancel()
        await #expect(throws: MediaError.network) { try await task.value }
        try await eventually("the connection is closed") { server.connectionCount == 0 }
    }

    @Test("If a loader may not connect, no request is made", arguments: Loader.allCases)
    func connecting(loader: Loader) async throws {
        _ = server.url("file", .serves([1, 2, 3]))
        for host in ["127.0.0.1", "localhost"] {
            let url = try #require(URL(string: "http://\(host):\(server.port)/file"))
            let asked = Collected<IPAddress>()
            var request = FetchRequest(url: url, deadline: .now + .seconds(600))
            request.mayConnect = { (address) throws(MediaError) in
                asked.add(address)
                throw .addressRefused
            }
            await #expect(throws: MediaError.addressRefused) { try await loader.fetcher.answer(to: request) }
            #expect(!asked.all.isEmpty && asked.all.allSatisfy { $0.isLoopback })
        }
        #expect(server.requests.isEmpty)
    }

    @Test("Data is posted unchanged, and only the status of the answer is read", arguments: Loader.allCases)
    func posting(loader: Loader) async throws {
        let server = try PostServer()
        let body = [UInt8](repeating: 7, count: 128)
        func status(_ manner: PostServer.Manner) async throws -> Int? {
            server.behave(manner)
            let request = FetchRequest(
                url: try #require(URL(string: server.url)), body: body, deadline: .now + .seconds(600))
            do throws(MediaError) {
                return try await loader.fetcher.answer(to: request).status
            } catch {
                #expect(error == .network)
                return nil
            }
        }
        for expected in [204, 400, 429, 503] { #expect(try await status(.answers(expected)) == expected) }
        #expect(try await status(.redirects) == 307)
        #expect(try await status(.floods) == 200)
        #expect(try await status(.closes) == nil)
        #expect(server.bodies.count == 7 && Set(server.bodies) == [body])
        for head in server.heads.map({ $0.lowercased() }) {
            #expect(head.hasPrefix("post /r http/1.1\r\n"))
            for line in ["user-agent: sealed-push", "accept-language: *", "content-type: application/octet-stream"] {
                #expect(head.contains("\r\n\(line)"), "\(head)")
            }
            #expect(!head.contains("cookie") && !head.contains("authorization") && !head.contains("expect:"))
        }
    }
}
