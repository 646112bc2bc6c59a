import Crypto
import Foundation
import HostilePeers
import JWTKit
import NIOCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushAPNs

/// The rules of renewal, without a network.
@Suite("Renewal of provider tokens") struct TokenSourceTests {
    private let clock = ManualClock()
    private let asked = Collected<Timestamp>()
    private let source: TokenSource

    init() {
        let asked = asked
        source = TokenSource(clock: clock.transportClock) { asked.add($0) }
    }

    private func current() -> TokenSource.Current { source.current(now: clock.transportClock.now()) }

    private var ready: Int? { if case .ready(let token) = current() { token.generation } else { nil } }
    private var wait: TokenSource.Wait? { if case .waiting(let wait) = current() { wait } else { nil } }
    private var isStopped: Bool { if case .wrongClock = current() { true } else { false } }

    private func expired(generation: Int) -> TokenSource.Expiry {
        source.expired(generation: generation, now: clock.transportClock.now())
    }

    private func sign() {
        #expect(wait == .signing)
        #expect(source.signed("first") == .renewed)
        #expect(ready == 1)
    }

    @Test("a token is renewed at 50 minutes but still used, and not used from 58 minutes on") func ages() {
        sign()
        clock.advance(.seconds(50 * 60 - 1))
        #expect(ready == 1)
        #expect(asked.all.count == 1)
        clock.advance(.seconds(1))
        #expect(ready == 1)
        #expect(asked.all.count == 2)
        clock.advance(.seconds(8 * 60 - 1))
        #expect(ready == 1)
        clock.advance(.seconds(1))
        #expect(wait == .signing)
        #expect(source.signed("second") == .renewed)
        #expect(ready == 2)
        #expect(asked.all.count == 2)
    }

    @Test("if signing fails, the old token is used until 58 minutes, and signing is retried every second")
    func failing() {
        sign()
        clock.advance(.seconds(50 * 60))
        #expect(ready == 1)
        #expect(source.signed(nil) == .failed)
        for _ in 0..<10 { #expect(ready == 1) }
        #expect(asked.all.count == 2)
        clock.advance(.seconds(8 * 60))
        #expect(wait == .signing)
        #expect(source.signed(nil) == .failed)
        #expect(wait == .failed)
        #expect(asked.all.count == 3)
        clock.advance(.seconds(1))
        #expect(wait == .signing)
    }

    @Test("after TooManyProviderTokenUpdates, no new token is signed for 20 minutes, whatever happens to the old one")
    func frozen() {
        sign()
        clock.advance(.seconds(49 * 60))
        source.tooManyUpdates(now: clock.transportClock.now())
        clock.advance(.seconds(9 * 60))
        #expect(wait == .notYet)
        clock.advance(.seconds(11 * 60))
        #expect(wait == .signing)
        #expect(asked.all.count == 2)
    }

    @Test("after a sleep in which only the time of day advances, an old token is neither used nor considered new")
    func suspended() {
        sign()
        clock.setWall(bySeconds: 2 * 3_600)
        #expect(wait == .signing)
        #expect(source.signed("second") == .early, "for new connections only")
        #expect(ready == 2)

        clock.setWall(bySeconds: 2 * 3_600 + 1_300)
        #expect(ready == 2)
        guard case .renewed = expired(generation: 2) else {
            Issue.record("called a wrong clock")
            return
        }
        #expect(wait == .signing)
    }

    @Test(
        "a stop ends when the clock is set, forward or back, and a new token is signed", arguments: [-7_200, 7_200, 61])
    func clockIsSet(seconds: Int) {
        sign()
        guard case .wrongClock(isNew: true) = expired(generation: 1) else {
            Issue.record("no wrong clock")
            return
        }
        #expect(isStopped)
        clock.advance(.seconds(120))
        clock.setWall(bySeconds: 30)
        #expect(isStopped, "that is within normal drift")
        clock.setWall(bySeconds: Int64(seconds))
        #expect(wait == .signing)
        #expect(source.signed("second") == .early)
        #expect(ready == 2)
        #expect(asked.all.count == 2)
    }

    @Test("if the clock was set before the refusal, there is no stop") func setBeforeRefusal() {
        sign()
        clock.setWall(bySeconds: -7_200)
        guard case .renewed = expired(generation: 1) else {
            Issue.record("called a wrong clock")
            return
        }
        #expect(wait == .signing)
    }
}

@Suite("The provider token") struct ProviderTokenTests {
    private struct Claims: JWTPayload {
        let iss: String
        let iat: Int
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private static func claims(_ authorization: String?) async throws -> Claims {
        let token = try #require(authorization?.dropFirst("bearer ".count))
        let key = try ES256PublicKey(pem: Rig.signingKey.publicKey.pemRepresentation)
        let keys = await JWTKeyCollection().add(ecdsa: key, kid: "ABCDE12345")
        return try await keys.verify(Array(token.utf8), as: Claims.self)
    }

    @Test("it is signed with ES256, and has the key, team, and whole seconds") func claims() async throws {
        let rig = try await Rig()
        #expect(await rig.outcome().isAccepted)
        let authorization = rig.server.seen.requests[0].header("authorization")
        let claims = try await Self.claims(authorization)
        #expect(claims.iss == "FGHIJ67890")
        #expect(claims.iat == 1_800_000_000)
    }

    @Test("all connections share one token until it is 50 minutes old, and then the next")
    func renewal() async throws {
        let rig = try await Rig()
        rig.trust([1])
        for number in [1, 2] { #expect(await rig.outcome(number).isAccepted) }
        try await rig.pass(.seconds(49 * 60))
        for number in [1, 2] { #expect(await rig.outcome(number).isAccepted) }
        #expect(Set(rig.server.seen.requests.map { $0.header("authorization") }).count == 1)

        rig.clock.advance(.seconds(60))
        #expect(await rig.outcome(1).isAccepted, "with the old one, while the new one is signed")
        try await eventually("the new one") { rig.metrics.counter("push_token_renewals", "signed") == 2 }
        for number in [1, 2] { #expect(await rig.outcome(number).isAccepted) }
        let last = rig.server.seen.requests.suffix(2).map { $0.header("authorization") }
        #expect(last[0] == last[1])
        #expect(try await Self.claims(last[0]).iat == 1_800_000_000 + 3_000)
    }

    @Test("an expired token is replaced together with its connection, and the push is delivered")
    func expired() async throws {
        let rig = try await Rig {
            if $0.number == 2 { $0.refuse(403, "ExpiredProviderToken") } else { $0.accept() }
        }
        rig.trust([1])
        #expect(await rig.outcome(1).isAccepted)
        rig.clock.advance(.seconds(21 * 60))
        #expect(await rig.outcome(1).isAccepted)
        let requests = rig.server.seen.requests
        #expect(requests.map { $0.connection } == [1, 1, 2])
        #expect(requests[1].header("authorization") != requests[2].header("authorization"))
        try await eventually("the old connection is closed") { rig.server.seen.liveConnectionCount == 1 }
    }

    @Test("an expiry report for a new token means a wrong clock: no push is sent until a new token is allowed")
    func wrongClock() async throws {
        let rig = try await Rig {
            if $0.number == 1 { $0.refuse(403, "ExpiredProviderToken") } else { $0.accept() }
        }
        #expect(await rig.outcome().error == .wrongClock)
        for _ in 0..<5 { #expect(await rig.outcome().error == .wrongClock) }
        rig.clock.advance(.seconds(19 * 60))
        #expect(await rig.outcome().error == .wrongClock)
        #expect(rig.server.seen.requests.count == 1)

        rig.clock.advance(.seconds(60))
        #expect(await rig.outcome().isAccepted)
        #expect(rig.metrics.counter("push_token_renewals", "signed") == 2)
    }

    @Test("a wrong clock is logged once for all pushes in flight; once it is set, pushes use a new connection")
    func clockIsSet() async throws {
        let log = CollectedLog()
        let rig = try await Rig(log: log) {
            if $0.connection.number > 1 || $0.push == 0 { $0.accept() } else { $0.refuse(403, "ExpiredProviderToken") }
        }
        rig.trust(0..<30)
        #expect(await rig.outcome(0).isAccepted)
        #expect(await rig.deliver(1..<21).allSatisfy { $0.error == .wrongClock })
        #expect(log.text.components(separatedBy: "clock is wrong").count == 2)
        rig.clock.setWall(bySeconds: 3_600)
        // If the first attempt to connect fails, the next one must wait for the clock.
        #expect(await rig.jumping { await rig.outcome(1) }.isAccepted)
        #expect(rig.server.seen.requests.last?.connection == 2)
        #expect(rig.metrics.counter("push_token_renewals", "signed") == 2)
    }

    @Test("TooManyProviderTokenUpdates reaches the caller, ends the connection, and causes a wait of a minute")
    func tooManyUpdates() async throws {
        let rig = try await Rig(configure: .changed { $0.deadlines.request = .seconds(120) }) {
            if $0.connection.number == 1 { $0.refuse(429, "TooManyProviderTokenUpdates") } else { $0.accept() }
        }
        #expect(await rig.outcome().refusal?.advice == .wait)
        async let next = rig.outcome()
        try await eventually("it waits") { try await rig.transport.waitsForClock }
        for _ in 0..<5 { try await rig.pass(.seconds(11)) }
        #expect(rig.server.seen.connectionCount == 1)
        rig.clock.advance(.seconds(6))
        #expect(await next.isAccepted)
        #expect(rig.metrics.counter("push_token_renewals", "signed") == 1)
    }

    @Test(
        "an invalid .p8 key, key ID, or team ID is rejected",
        arguments: [
            (nil, "ABCDE1234", "FGHIJ67890", .malformedIdentifier),
            (nil, "ABCDE12345", "FGHIJ6789ü", .malformedIdentifier), ("", "ABCDE12345", "FGHIJ67890", .malformedKey),
            ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "ABCDE12345", "FGHIJ67890", .malformedKey),
        ] as [(String?, String, String, APNsConfigurationError)])
    func badKeys(pem: String?, keyID: String, teamID: String, error: APNsConfigurationError) throws {
        let bytes = Array((pem ?? Rig.signingKey.pemRepresentation).utf8)
        #expect(throws: error) { try ProviderKey(pem: bytes, keyID: keyID, teamID: teamID) }
    }

    #if os(Linux)
    @Test("no copy of a .p8's text is left in memory except the caller's") func text() throws {
        let pem = Array(P256.Signing.PrivateKey().pemRepresentation.utf8)
        let scan = MemoryScan()
        // From the middle of the text, where the secret is.
        scan.secret.copyBytes(from: pem[80..<112])
        let before = scan.copyCount()
        let key = try ProviderKey(pem: pem, keyID: "ABCDE12345", teamID: "FGHIJ67890")
        let after = scan.copyCount()
        #expect(before >= 1 && after <= before, "\(before), then \(after)")
        #expect(key.keyID == "ABCDE12345" && pem.count > 200)
    }
    #endif

    @Test("a .p8 is accepted in any usual form, and another kind of file is identified") func forms() throws {
        let pem = Rig.signingKey.pemRepresentation
        let der = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        let body = pem.split(separator: "\n").dropFirst().dropLast().joined()
        let encoded = Data(pem.utf8).base64EncodedString()
        for text in [
            pem + "\n", "Key of Example\n" + pem, der + pem, pem.replacing("\n", with: "\r\n") + "\r\n",
            pem.replacing("\n", with: "  \n"), pem.replacing("\n", with: "\n    "), pem.replacing("\n", with: "\\n"),
            pem.replacing("\n", with: "\\r\\n"), pem.replacing("\n", with: " "), pem.replacing("\n", with: ""),
            "\"\(pem)\"\n",
            "'\(pem.replacing("\n", with: "\\n"))'", "\u{feff}\(pem)", encoded, encoded.replacing("=", with: "") + "\n",
            body,
        ] {
            _ = try ProviderKey(pem: Array(text.utf8), keyID: "ABCDE12345", teamID: "FGHIJ67890")
        }
        for (text, error) in [
            (String(pem.dropLast(40)), .malformedKey),
            (Rig.signingKey.publicKey.pemRepresentation, .otherPEM(.publicKey)),
            (der, .otherPEM(.certificate)), (String(encoded.dropLast(80)), .malformedKey),
            ("AuthKey_ABCDE12345.p8", .malformedKey),
            (pem.replacing("BEGIN P", with: "BEGIN ENCRYPTED P"), .otherPEM(.encryptedKey)),
        ] as [(String, APNsConfigurationError)] {
            #expect(throws: error) {
                try ProviderKey(pem: Array(text.utf8), keyID: "ABCDE12345", teamID: "FGHIJ67890")
            }
        }
    }

    @Test("printing a key shows only its public names") func description() throws {
        let key = try ProviderKey(
            pem: Array(Rig.signingKey.pemRepresentation.utf8), keyID: "ABCDE12345", teamID: "FGHIJ67890")
        #expect("\(key)" == "provider key ABCDE12345 of team FGHIJ67890")
        var dumped = ""
        dump(key, to: &dumped)
        #expect(dumped.utf8.count < 100)
    }
}
