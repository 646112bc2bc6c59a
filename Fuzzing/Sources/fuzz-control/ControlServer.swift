import Foundation
import FuzzSupport
import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import SimulatedAPNs

/// The control endpoint of a local APNs that knows one device, as one connection to it sees it.
struct ControlServer {
    private static let folder = RawFolder(target: "sealed-push-fuzz-control")
    private static let own: LocalAPNsFolder = {
        do {
            return try LocalAPNsFolder(URL(filePath: folder.path, directoryHint: .isDirectory))
        } catch { fatalError("no folder: \(error)") }
    }()
    private let core: LocalAPNsCore

    init() {
        var configuration = LocalAPNsConfiguration()
        configuration.now = { 1_760_000_000_000 }
        configuration.seed = 1
        configuration.log = .off
        let known = DeviceRecord(
            name: "phone", bundleID: "com.example.app", token: String(repeating: "01", count: 32),
            registered: 1_760_000_000_000)
        let registry = DeviceRegistry(configuration, known: [known]) { _ in }
        do {
            let log = try APNsLog(Self.own.url, detail: .off)
            core = LocalAPNsCore(configuration, tokens: ProviderTokens([]), registry: registry, log: log)
        } catch { fatalError("no log: \(error)") }
    }

    /// Whether all is as it was at first.
    var isUntouched: Bool {
        core.faults == APNsFaults() && core.tokens.all.isEmpty
            && core.registry.records(limit: 9).map(\.state) == [.active]
    }

    struct Answer {
        let status: Int
    }

    func answers(to bytes: [UInt8]) -> [Answer] {
        let channel = EmbeddedChannel()
        let connection = ControlConnection(
            ControlCommands(core: core, folder: Self.own), timeout: .seconds(30))
        var answered: [UInt8] = []
        run(channel) {
            try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
            try channel.pipeline.syncOperations.addHandler(connection)
            try channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait()
        }
        let size = bytes.count % 3 == 0 ? 7 : 65_536
        for start in stride(from: 0, to: bytes.count, by: size) where channel.isActive {
            run(channel) { try channel.writeInbound(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)])) }
        }
        run(channel) {
            while let piece = try channel.readOutbound(as: ByteBuffer.self) { answered += piece.readableBytesView }
        }
        // Whole or not: the connection ends, or its time does.
        channel.embeddedEventLoop.advanceTime(by: .seconds(31))
        demand(!channel.isActive, "a connection outlives its time")
        return Self.read(answered)
    }

    private func run(_ channel: EmbeddedChannel, _ body: () throws -> Void) {
        // What is no HTTP is an error that ends the connection.
        do { try body() } catch {}
        channel.embeddedEventLoop.run()
    }

    private static func read(_ bytes: [UInt8]) -> [Answer] {
        var answers: [Answer] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let end = Array("\r\n\r\n".utf8)
            guard let body = rest.firstRange(of: end) else { fatalError("an answer without an end") }
            let head = String(decoding: rest[..<body.lowerBound], as: UTF8.self).lowercased()
            let lines = head.split(separator: "\r\n")
            guard lines[0].hasPrefix("http/1.1 "), let status = Int(lines[0].dropFirst(9).prefix(3)),
                let length = lines.first(where: { $0.hasPrefix("content-length: ") }).flatMap({ Int($0.dropFirst(16)) })
            else { fatalError("an answer that is none: \(head)") }
            rest = rest[body.upperBound...]
            demand(length <= rest.count, "an answer that is cut")
            // swift-nio's own answer to what is no HTTP has none.
            if length > 0 {
                let json = Data(rest.prefix(length))
                demand((try? JSONSerialization.jsonObject(with: json)) != nil, "an answer that is no JSON")
            }
            rest = rest.dropFirst(length)
            answers.append(Answer(status: status))
        }
        return answers
    }
}
