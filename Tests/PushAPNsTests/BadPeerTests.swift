import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import PushSender
import TestSupport
import Testing

@testable import PushAPNs

@Suite("Misbehaving peers") struct BadPeerTests {
    enum Misdeed: String, CaseIterable, Sendable {
        case noHTTP2, unknownStream, dataBeforeHeaders, hugeHeaders, badHPACK, zeroIncrement, statusMissing, cut,
            windowOverflow, badContentLength

        /// `:status: 103`, without a table entry.
        static let status103: [UInt8] = [0x08, 3, 0x31, 0x30, 0x33]

        func act(_ exchange: Exchange) {
            let connection = exchange.connection
            let id = UInt8(truncatingIfNeeded: Int(exchange.streamID))
            func frame(_ type: UInt8, _ flags: UInt8, stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
                FrameReaderTests.frame(type, flags, stream, payload)
            }
            switch self {
            case .noHTTP2: connection.sendRaw(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
            case .unknownStream: connection.sendRaw(frame(0, 0, stream: 99, [1, 2, 3]))
            case .dataBeforeHeaders: connection.sendRaw(frame(0, 0, stream: id, [1, 2, 3]))
            case .hugeHeaders:
                var headers: HPACKHeaders = [":status": "200"]
                for number in 0..<100 {
                    headers.add(name: "x-\(number)", value: String(repeating: "v", count: 100), indexing: .nonIndexable)
                }
                connection.send(.headers(.init(headers: headers, endStream: true)), on: exchange.streamID)
            case .badHPACK: connection.sendRaw(frame(1, 5, stream: id, [0xff, 0xff, 0xff, 0xff, 0x0f]))
            case .zeroIncrement: connection.sendRaw(frame(8, 0, stream: 0, [0, 0, 0, 0]))
            case .statusMissing: connection.sendRaw(frame(1, 5, stream: id, [0]))
            case .cut: connection.cut()
            case .windowOverflow: connection.sendRaw(frame(8, 0, stream: 0, [0x7f, 0xff, 0xff, 0xff]))
            case .badContentLength:
                connection.sendRaw(
                    frame(1, 4, stream: id, [0x88, 0x0f, 0x0d, 0x01, 0x35]) + frame(0, 1, stream: id, [1, 2, 3]))
            }
        }
    }

    @Test(
        "endless frames on an abandoned stream end the connection, and affect no other push",
        arguments: [
            FrameReaderTests.frame(1, 4, 3, Misdeed.status103), FrameReaderTests.frame(0, 0, 3, [1]),
        ])
    func floodOfLateFrames(frame: [UInt8]) async throws {
        let rig = try await Rig(configure: .withoutDeadlines) {
            if $0.push == 0 { $0.putAside() } else { $0.accept() }
        }
        rig.trust([0, 1])
        #expect(await rig.outcome(1).isAccepted)
        let task = Task { await rig.outcome(0) }
        try await eventually("it is sent") { rig.server.seen.waiting.count == 1 }
        let exchange = try #require(rig.server.seen.takeWaiting().first)
        #expect(Int(exchange.streamID) == 3)
        // Its response has begun, so that data may follow.
        exchange.connection.sendRaw(FrameReaderTests.frame(1, 4, 3, [0x88]))
        task.cancel()
        #expect(await task.value.error == .canceled)
        try await eventually("the stream is reset") { rig.server.seen.resetCount == 1 }
        exchange.connection.sendRaw(Array(repeating: frame, count: 20_000).flatMap { $0 })
        // A response on the same connection would follow the flood; on another connection, it would be unaffected.
        _ = await rig.jumping { await rig.outcome(1) }
        #expect(await rig.jumping { await rig.outcome(1) }.isAccepted)
        #expect(rig.server.seen.connectionCount == 2)
    }

    @Test("no more is read from a peer that has violated the protocol, even if it doesn't answer the closure")
    func cutAtOnce() async throws {
        let rig = try await Rig(configure: .withoutDeadlines) { exchange in
            guard exchange.number == 2 else { return exchange.accept() }
            Misdeed.zeroIncrement.act(exchange)
            exchange.connection.fallSilent()
        }
        rig.trust([0])
        #expect(await rig.outcome().isAccepted)
        let channel = try #require(try await rig.transport.firstChannel)
        #expect(channel.isActive)
        #expect(!(await rig.outcome().isAccepted))
        #expect(!channel.isActive, "it is closed when its pushes learn of it")
    }

    @Test("a misdeed causes one error and ends one connection, and the next push works", arguments: Misdeed.allCases)
    func misdeeds(_ misdeed: Misdeed) async throws {
        let rig = try await Rig(configure: .withoutDeadlines) {
            if $0.connection.number == 1 { misdeed.act($0) } else { $0.accept() }
        }
        let outcome = await rig.outcome()
        if misdeed == .badContentLength {
            #expect(outcome.isAccepted, "its status came first")
        } else if case .connectionLost(let reason)? = outcome.error {
            #expect(!reason.isEmpty && reason.utf8.count < 200)
        } else {
            Issue.record("\(misdeed): \(outcome)")
        }
        #expect(await rig.jumping { await rig.outcome() }.isAccepted)
    }

    @Test("A server without HTTP/2 is identified as such, and one with another protocol after TLS is not waited for")
    func otherProtocols() async throws {
        let old = ServerBehavior(protocols: ["http/1.1"])
        try await Self.expectUnreachable(old, "the server does not offer HTTP/2 (ALPN h2)")
        let other = ServerBehavior(insteadOfHTTP2: Array("220 mail.example.com ESMTP\r\n".utf8))
        try await Self.expectUnreachable(other, nil)
    }

    @Test("a certificate that has expired, is for another name, or is from an unknown issuer is not accepted")
    func certificates() async throws {
        let untrusted = "the server's certificate is not trusted or has expired"
        let expired = TestCertificate(validFrom: .now - 7_200, validUntil: .now - 3_600)
        try await Self.expectUnreachable(ServerBehavior(), untrusted, certificate: expired, trusting: expired)
        try await Self.expectUnreachable(ServerBehavior(), untrusted, certificate: TestCertificate(), trusting: .shared)
        let otherName = TestCertificate(host: "example.com")
        try await Self.expectUnreachable(
            ServerBehavior(), "the server's certificate is for another name", certificate: otherName,
            trusting: otherName)
    }

    private static func expectUnreachable(
        _ behavior: ServerBehavior, _ reason: String?, certificate: TestCertificate = .shared,
        trusting: TestCertificate = .shared
    ) async throws {
        let rig = try await Rig(behavior, certificate: certificate, trusting: trusting, configure: .withoutDeadlines)
        let outcome = await rig.jumping { await rig.outcome() }
        guard case .unreachable(let text)? = outcome.error else {
            Issue.record("\(outcome)")
            return
        }
        if let reason { #expect(text == reason) }
        #expect(rig.server.seen.requests.isEmpty)
    }

    @Test(
        "a proxy that refuses, isn't a proxy, or doesn't stop makes a push unreachable, and is named if it answers",
        arguments: [
            ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", 1, "requires a password, which isn't supported"),
            ("HTTP/1.1 403 Forbidden\r\n\r\n", 1, "doesn't open a connection to this server"),
            ("", 1, nil), ("SSH-2.0-OpenSSH_9.2\r\n", 1, nil), ("HTTP/1.1 200 OK\r\nX: ", 1, nil),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 1, nil), ("HTTP/1.1 200 OK\r\n\r\n", 1_000, nil),
            ("HTTP/1.1 200 OK\r\nX: x", 100_000, nil),
        ])
    func proxies(answer: String, count: Int, reason: String?) async throws {
        let proxy = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { $0.pipeline.addHandler(Answering(String(repeating: answer, count: count))) }
            .bind(host: "127.0.0.1", port: 0).get()
        let place = APNsEndpoint(host: "127.0.0.1", port: proxy.localAddress?.port ?? 0)
        let clock = ManualClock()
        let transport = try Rig.transport(
            to: 9, clock: clock,
            configure: .withoutDeadlines(but: {
                $0.deadlines.connect = .seconds(5)
                $0.proxy = place
            }))
        await clock.jumping(for: transport, isMute: reason == nil) {
            do throws(PushTransportError) {
                _ = try await transport.deliver(Rig.request())
                Issue.record("it was delivered")
            } catch {
                guard case .unreachable(let words) = error else {
                    Issue.record("\(error)")
                    return
                }
                if let reason { #expect(words == "the proxy \(place) \(reason)") }
            }
        }
        await transport.shutDown()
        try await proxy.close()
    }

    /// Gives the same answer to whatever arrives.
    private final class Answering: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        private let text: String

        init(_ text: String) { self.text = text }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            context.writeAndFlush(NIOAny(ByteBuffer(string: text)), promise: nil)
        }
    }

    @Test("invalid trust roots are rejected") func badRoots() {
        for text in ["", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            #expect(throws: APNsConfigurationError.malformedTrustRoots) { try TrustRoots(pem: Array(text.utf8)) }
        }
    }
}
