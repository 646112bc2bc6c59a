import Foundation
import Glibc
import PushSimulator
import TestPrograms
import TestSupport
import Testing

@Suite("device-simulator trial", .blocking) struct TrialTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["output", "errors"] { try folder.write("", to: name) }
    }

    private var output: String { get throws { try Checkout.text(folder.appending("output")) } }
    private var errors: String { get throws { try Checkout.text(folder.appending("errors")) } }

    private func start(_ port: Int, _ phonesPort: Int) throws -> ChildProcess {
        for name in ["output", "errors"] { try folder.write("", to: name) }
        return try Program("device-simulator", in: folder.url).start(
            ["trial", "--port", "\(port)", "--phones-port", "\(phonesPort)"],
            output: FileHandle(forWritingTo: folder.appending("output")),
            errors: FileHandle(forWritingTo: folder.appending("errors")))
    }

    private func shows(_ text: String, _ process: ChildProcess) async throws {
        try await eventually("the phone shows \(text)") {
            if process.hasEnded { throw Ended(errors: try errors) }
            return try output.contains(text)
        }
    }

    private struct Ended: Error { let errors: String }

    @Test("shows a test on a phone, and a message of a back end; a second run has the same sender") func twice()
        async throws
    {
        let (port, phonesPort) = (LoopbackServer.freePort(), LoopbackServer.freePort())
        var keys: [Substring] = []
        for text in ["kumquat", "tangerine"] {
            let process = try start(port, phonesPort)
            defer { process.kill() }
            try await shows("It works", process)
            #expect(try output.contains("NOT FOR PRODUCTION") && output.contains("pushlogin."))
            keys.append(try #require(try output.firstMatch(of: /SENDER_KEY = (pushsender1\w+)/)).1)
            let token = folder.appending("Trial/server/secrets/token")
            let secret = try Checkout.text(token).trimmingCharacters(in: .newlines)
            #expect(try !output.contains(secret) && !errors.contains(secret))
            let sent = try Program(at: "/usr/bin/curl").run(
                "-sf", "-H", "Authorization: Bearer \(secret)", "http://127.0.0.1:\(port)/v1/messages", "--json",
                #"{"user":"alice","content":{"alert":{"body":"\#(text)"}}}"#)
            #expect(sent.status == 0, "\(sent)")
            try await shows(text, process)
            Glibc.kill(process.identifier, SIGTERM)
            #expect(process.wait() == .exited(0))
        }
        #expect(keys.count == 2 && keys[0] == keys[1])
    }

    @Test("ends with its service's status if a port is in use, and leaves no program behind") func portInUse()
        async throws
    {
        let (port, phonesPort) = (LoopbackServer.freePort(), LoopbackServer.freePort())
        let first = try start(port, phonesPort)
        defer { first.kill() }
        try await shows("It works", first)
        let second = try Program("device-simulator", in: folder.url).run(
            "trial", "--folder", "Other", "--port", "\(port)", "--phones-port", "\(phonesPort)")
        #expect(second.status == 74 && second.errors.contains("can't listen at"), "\(second)")
        #expect(second.errors.contains("sealedpush ended with status 74"), "\(second.errors)")
        // Its local APNs' folder is free again.
        let again = try Program("device-simulator", in: folder.url).run(
            "trial", "--folder", "Other", "--port", "\(port)", "--phones-port", "\(phonesPort)")
        #expect(again.status == 74 && again.errors.contains("can't listen at"), "\(again)")
        // A killed trial couldn't stop its programs.
        Glibc.kill(first.identifier, SIGTERM)
        #expect(first.wait() == .exited(0))
    }
}
