import Foundation
import Logging
import PushOutbox
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP

@Suite("A socket's path", .blocking) struct SocketPlaceTests {
    @Test("a socket's path belongs to one service at a time, and is free again after that service dies")
    func places() throws {
        let folder = try TemporaryFolder()
        let path = folder.appending("s").path
        for _ in 1...2 {
            let first = try SocketPlace(path)
            #expect(throws: ServingError.self) { try SocketPlace(path) }
            withExtendedLifetime(first) {}
        }
    }

    @Test("a folder above that others can replace is refused, as is one that a link leads through") func above() throws
    {
        let folder = try TemporaryFolder()
        for path in ["a", "a/b"] { mkdir(folder.appending(path).path, 0o700) }
        symlink("a/b", folder.appending("link").path)
        for path in ["a/b/s", "link/s"] {
            #expect(throws: Never.self) { try SocketPlace(folder.appending(path).path) }
            chmod(folder.appending("a").path, 0o777)
            do throws(ServingError) {
                _ = try SocketPlace(folder.appending(path).path)
                Issue.record("\(path) was accepted")
            } catch {
                #expect("\(error)".contains("\(folder.appending("a").path), and replace the socket"), "\(error)")
            }
            chmod(folder.appending("a").path, 0o1777)
        }
    }

    @Test(
        "a service whose socket was removed, renamed, or replaced is not ready, as its other listeners say",
        arguments: 0...2)
    func lost(_ way: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.appending("s").path
        let outbox = try Outbox(at: folder.appending("outbox.db").path)
        let readiness = Readiness()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = try PushServer(
            at: .socket(path), outbox: outbox,
            state: ServerState(keys: RunningServer.keys(of: SenderPrivateKey()), senderSet: nil, tokens: nil),
            readiness: readiness, limits: .unhurried, logger: logger)
        let watching = try MetricsServer(
            host: "127.0.0.1", port: 0, metrics: PrometheusMetrics(), readiness: readiness, outbox: outbox,
            deliveries: { nil }, limits: .unhurried, logger: logger)
        try await RunningServer.serving(stop: server.stop) { listening in
            try await server.run { _, _ in listening(()) }
        } during: { (_: Void) in
            try await RunningServer.serving(stop: watching.stop) { listening in
                try await watching.run { listening($0 ?? 0) }
            } during: { (port: Int) in
                let ask = {
                    try Program(at: "/usr/bin/curl").run("-sS", "http://127.0.0.1:\(port)/readyz").output
                }
                #expect(try ask().contains("ready"))
                if way == 0 { #expect(unlink(path) == 0) } else { #expect(rename(path, path + ".old") == 0) }
                if way == 2 { try Data().write(to: URL(filePath: path)) }
                #expect(try ask().contains("no-socket"))
            }
        }
    }
}
