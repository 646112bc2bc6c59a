import Dispatch
import Foundation
import Glibc
import PushCore
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import SealedPushCommand

@Suite("Rereading files", .blocking) struct ReloadTests {
    /// A part whose readings wait until they are let through.
    private final class Stuck: Sendable {
        let gate = DispatchSemaphore(value: 0)
        let count = Locked(0)

        var part: Reload.Part {
            Reload.Part(name: "the certificate") { [self] in
                count.withLock { $0 += 1 }
                gate.wait()
                return true
            }
        }
    }

    @Test("a part that doesn't respond holds up no other, is reported, and is read once more for all later requests")
    func stuck() async throws {
        let (stuck, keys) = (Stuck(), Locked(0))
        let (late, endCount) = (Locked<[[String]]>([]), Locked(0))
        let timers = Locked<[@Sendable () -> Void]>([])
        let reload = Reload(
            after: { time, call in
                #expect(time == Reload.patience)
                timers.withLock { $0.append(call) }
            }, onLate: { names in late.withLock { $0.append(names) } }, onEnd: { endCount.withLock { $0 += 1 } })
        // A request before the start isn't lost.
        reload.request()
        reload.start([
            Reload.Part(name: "the keys") {
                keys.withLock { $0 += 1 }
                return true
            }, stuck.part,
        ])
        try await eventually("the first reading") { keys.withLock { $0 } >= 1 && stuck.count.withLock { $0 } == 1 }
        for _ in 1...5 {
            let before = keys.withLock { $0 }
            reload.request()
            try await eventually("a reading after the request") { keys.withLock { $0 } > before }
        }
        #expect(reload.late.isEmpty && endCount.withLock { $0 } == 0)
        for call in timers.withLock({ $0 }) { call() }
        #expect(reload.late == ["the certificate"])
        #expect(late.withLock { $0 } == [["the certificate"]])
        stuck.gate.signal()
        try await eventually("the next reading") { stuck.count.withLock { $0 } == 2 }
        #expect(reload.late.isEmpty && late.withLock { $0 } == [["the certificate"], []])
        // The first reading's timer says nothing about the second.
        for call in timers.withLock({ $0.dropLast() }) { call() }
        #expect(reload.late.isEmpty)
        stuck.gate.signal()
        try await eventually("the end") { endCount.withLock { $0 } == 1 }
        #expect(stuck.count.withLock { $0 } == 2)
    }

    @Test("pipes in place of a service's files hold up neither its start nor a revocation") func pipes() async throws {
        let fixture = try await SendingFixture()
        let token = String(repeating: "0123456789abcdef", count: 2)
        let made = try Program(at: "/usr/bin/openssl", in: fixture.folder.url).run(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "cert.pem")
        try #require(made.status == 0, "\(made.errors)")
        try ServedCommand.write("\(token)\n", to: "token", fixture)
        let served = try await ServedCommand.start(
            fixture,
            [
                "--listen", "127.0.0.1:0", "--token-file", "token", "--tls", "cert.pem,key.pem", "--metrics",
                "127.0.0.1:0",
            ])
        let base = "https://127.0.0.1:\(try #require(served.place["port"] as? Int))"
        let recipient = DevicePrivateKey().recipient.description
        let seal = {
            try served.curl(
                base + "/v1/seal", "-k", "-H", "Authorization: Bearer \(token)", "--json",
                #"{"recipient":"\#(recipient)","unverified":true,"content":{"alert":{"title":"Nina"}}}"#)
        }
        #expect(try seal().status == "200")
        for name in ["token", "cert.pem", "key.pem"] {
            let path = fixture.folder.appending(name).path
            try FileManager.default.removeItem(atPath: path)
            #expect(mkfifo(path, 0o600) == 0)
        }
        served.signal()
        try await eventually("the files' errors") {
            served.errors.matches(of: /could not be reread.*: this is not a regular file/).count == 2
        }
        #expect(try fixture.run(["keys", "revoke", "newsroom", "--yes", "--keyring", "Keys"]).status == 0)
        served.signal()
        try await eventually("the revocation") { try seal().body.contains(#""no-sender""#) }
        #expect(served.stop() == .exited(0))

        let serve = "serve --from newsroom --topic \(SendingFixture.topic) --keyring Keys --listen 127.0.0.1:0"
        #expect(try fixture.run(["keys", "rotate", "newsroom", "--keyring", "Keys"]).status == 0)
        try ServedCommand.write("\(token)\n", to: "good", fixture)
        for words in [
            "\(serve) --token-file token", "\(serve) --token-file good --notify-tokens token",
            "\(serve) --token-file good --tls cert.pem,key.pem",
            "\(serve) --token-file good --sender-set token", "\(serve) --token-file good --unlock token",
            "\(serve) --token-file good --outbox-key token",
            "\(serve) --token-file good --provider-key ABCDE12345,FGHIJ67890,token",
            "work --provider-key ABCDE12345,FGHIJ67890,token", "work --apns APNs --outbox-key token",
        ] {
            let result = try fixture.run(words.split(separator: " ").map(String.init))
            #expect(result.status == 74, "\(words): \(result.status) \(result.errors)")
            #expect(result.errors.contains("this is not a regular file"), "\(words): \(result.errors)")
        }
    }
}
