import HostilePeers
import NIOCore
import NIOHTTP2
import PushCore
import PushSender
import TestSupport
import Testing

@testable import PushAPNs

/// Many at once, unlike ``BadPeerTests``, which tests them one by one. Scripts/special/bench-hostile measures their cost.
@Suite("Hostile servers beside a good one") struct HostilePeersTests {
    /// A client of a hostile server, with its own clock.
    private struct Victim: Sendable {
        let deed: HostileDeed
        let server: HostileServer
        let clock = ManualClock()
        let log = CollectedLog()
        let transport: APNsTransport

        init(_ deed: HostileDeed, _ server: HostileServer) throws {
            self.deed = deed
            self.server = server
            // Deadlines apply only if a misdeed depends on them.
            let change = ConfigurationChange.withoutDeadlines {
                if deed.waitsForReset { $0.deadlines.request = .seconds(100) }
                if deed == .silence { $0.deadlines.pingWhileBusy = .seconds(10) }
            }
            transport = try Rig.transport(to: server.port, clock: clock, log: log, configure: change)
        }

        /// The result of the push, and the reason that its connection ended.
        func suffer() async throws -> (outcome: Rig.Outcome, reason: String) {
            async let delivery = transport.outcome(of: Rig.request())
            if deed.waitsForReset {
                try await eventually("the request is there") { server.seen.requestCount > 0 }
                clock.advance(.seconds(100))
            }
            try await eventually("the connection of \(deed) is over") {
                if deed == .silence, server.seen.requestCount > 0 { clock.advance(.seconds(10)) }
                return log.closingReason != nil
            }
            await transport.shutDown()
            return (await delivery, log.closingReason ?? "")
        }
    }

    @Test("twenty or more at once cause the typed errors that match their misdeeds, and every good push is accepted")
    func manyAtOnce() async throws {
        let certificate = TestCertificate.shared
        let rig = try await Rig(configure: .withoutDeadlines)
        rig.trust(0..<50)
        var victims: [Victim] = []
        for deed in HostileDeed.allCases + HostileDeed.allCases {
            let server = try await HostileServer(deed, tls: certificate.serverContext(protocols: ["h2"]))
            victims.append(try Victim(deed, server))
        }
        #expect(victims.count >= 20)
        let isOver = Locked(false)
        async let good = Self.deliver(over: rig, until: isOver)
        try await withThrowingTaskGroup(of: (HostileDeed, Rig.Outcome, String).self) { group in
            for victim in victims {
                group.addTask {
                    let (outcome, reason) = try await ending("\(victim.deed)") { try await victim.suffer() }
                    return (victim.deed, outcome, reason)
                }
            }
            for try await (deed, outcome, reason) in group {
                #expect(Self.reasons(deed).contains(reason), "\(deed): \(reason)")
                switch deed {
                case .endlessBody: #expect(outcome.isAccepted, "its status came first")
                case .resetHeaders, .resetData: #expect(outcome.error == .timedOut, "\(deed)")
                default: #expect(outcome.error == .connectionLost(reason), "\(deed)")
                }
            }
        }
        isOver.withLock { $0 = true }
        let outcomes = await good
        #expect(outcomes.count >= 50 && outcomes.allSatisfy { $0.isAccepted })
        #expect(rig.server.seen.connectionCount == 1)
        for victim in victims {
            // Bytes in transit when the connection was cut are counted, too.
            #expect(victim.server.seen.byteCount < 40_000_000, "\(victim.deed): \(victim.server.seen)")
            let farewells = victim.log.text.split(separator: "\n").count { $0.contains("APNs is closing a connection") }
            #expect(farewells <= 10, "\(victim.deed)")
            await victim.server.stop()
        }
    }

    @Test("useless frames count by their cost: long ones reach the limit sooner, but frames in transit don't count")
    func frameCosts() {
        let now = NIODeadline.uptimeNanoseconds(0)
        func allowed(_ byteCount: Int, fieldCount: Int = 0, isQuestion: Bool = false) -> Int {
            var floodGuard = FloodGuard()
            return (0..<100_000).first { _ in
                (try? floodGuard.took(byteCount, fieldCount: fieldCount, isQuestion: isQuestion, now: now)) == nil
            } ?? -1
        }
        #expect(allowed(8) == 10_000)
        #expect(allowed(16_384) == 153)
        #expect(allowed(5, fieldCount: 1) == 5_000)
        #expect(allowed(0, fieldCount: 32) == 1_111)
        #expect(allowed(8, isQuestion: true) == 2_500)
        // Responses of 64 KB, each abandoned after its start, as a proxy may send them for every push.
        var floodGuard = FloodGuard()
        for _ in 0..<1_000 {
            floodGuard.pushed()
            floodGuard.gaveUp()
            for _ in 0..<4 { #expect(throws: Never.self) { try floodGuard.took(16_383, now: now) } }
        }
    }

    @Test("a peer that endlessly sends slow requests, and reads no replies, is closed before the replies fill memory")
    func deafness() async throws {
        let log = CollectedLog()
        let rig = try await Rig(log: log, configure: .withoutDeadlines)
        #expect(await rig.outcome().isAccepted)
        let channel = try #require(try await rig.transport.firstChannel)
        let peer = try #require(rig.server.seen.lastConnection)
        // Little buffer space in transit.
        try await channel.setOption(.socketOption(.so_sndbuf), value: 4_096).get()
        try await peer.channel.setOption(.socketOption(.so_rcvbuf), value: 4_096).get()
        peer.fallSilent()
        let pings = Array(repeating: FrameReaderTests.frame(6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]), count: 500)
        for _ in 0..<1_000 where channel.isActive {
            // None of it is a flood, because half a minute passes, and earlier frames were read.
            rig.clock.advance(.seconds(30))
            peer.sendRaw(pings.flatMap { $0 })
            try await eventually("the pings are read") {
                let isRead = try await rig.transport.hasReceivedNow
                return isRead || !channel.isActive
            }
        }
        #expect(log.text.contains("reason=\(Self.untaken)"), "\(log.text)")
    }

    private static func reasons(_ deed: HostileDeed) -> [String] {
        let flood = "HTTP/2: a flood of frames"
        return switch deed {
        case .manySettings: ["HTTP/2: too many settings in a frame"]
        case .afterViolation: ["HTTP/2: a window update of zero"]
        case .continuations: ["HTTP/2: an endless header block"]
        case .afterGoAway, .goAways: ["APNs ended the connection: Shutdown"]
        case .silence: ["no answer to a ping"]
        // Replies may block each other, or not.
        case .pings, .settings: [flood, untaken]
        default: [flood]
        }
    }

    private static let untaken = "HTTP/2: the peer doesn't read replies"

    private static func deliver(over rig: Rig, until isOver: Locked<Bool>) async -> [Rig.Outcome] {
        var outcomes: [Rig.Outcome] = []
        repeat { outcomes += await rig.deliver(0..<50) } while !isOver.withLock({ $0 }) && !Task.isCancelled
        return outcomes
    }
}
