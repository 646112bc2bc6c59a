import Foundation
import PushSimulator
import TestPrograms
import TestSupport
import Testing

@Suite("An outbox that is replaced under running programs", .blocking) struct ReplacedOutboxTests {
    @Test("`serve` answers 503 and isn't ready, and `work` ends, until they are restarted") func restored() async throws
    {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone", user: "alice")
        let message = #"{"user":"alice","content":{"alert":{"body":"Lunch at one?"}}}"#
        let served = try await ServedCommand.start(fixture, ["--listen", "own.sock"])
        #expect(try served.ask("/v1/messages", message).status == "202")
        #expect(try served.ask("/readyz").status == "200")
        let log = fixture.folder.appending("work.log")
        try Data().write(to: log)
        let working = try Program("sealedpush", in: fixture.folder.url).start(
            ["work", "--apns", "APNs"], output: FileHandle(forWritingTo: fixture.folder.appending("work.log")),
            errors: FileHandle(forWritingTo: log))
        defer { working.kill() }
        try await eventually("the message is delivered") {
            try (fixture.status()["outcomes"] as? [String: Int])?["accepted"] == 1
        }
        // As in Operations 4, but without stopping the services.
        try fixture.folder.backUpOutbox()
        #expect(working.wait() == .exited(74))
        #expect(try Checkout.text(log).contains("was replaced"))
        let (status, body) = try served.ask("/v1/messages", message)
        #expect(status == "503" && body.contains("restarted"), "\(body)")
        try await eventually("it isn't ready") { try served.ask("/readyz").status == "503" }
        #expect(try served.ask("/readyz").body.contains("replaced"))
        #expect(try fixture.status()["waiting"] as? Int == 0)
        #expect(served.stop() == .exited(0))
        let again = try await ServedCommand.start(fixture, ["--listen", "own.sock"], as: "2")
        #expect(try again.ask("/v1/messages", message).status == "202")
        #expect(try fixture.status()["waiting"] as? Int == 1)
        #expect(again.stop() == .exited(0))
    }
}

extension TemporaryFolder {
    /// Replaces the outbox with a copy of itself.
    fileprivate func backUpOutbox() throws {
        let copied = try Program(at: "/usr/bin/sqlite3", in: url).run(["-readonly", "outbox.sqlite", ".backup copy"])
        guard copied.status == 0 else { throw CocoaError(.fileWriteUnknown) }
        for suffix in ["", "-wal", "-shm"] {
            try FileManager.default.removeItem(at: appending("outbox.sqlite\(suffix)"))
        }
        try FileManager.default.moveItem(at: appending("copy"), to: appending("outbox.sqlite"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: appending("outbox.sqlite").path)
    }
}
