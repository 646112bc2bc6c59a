import Foundation
import SealedPush
import TestSupport
import Testing

@testable import PushKeyring

@Suite("The audit log") struct AuditLogTests {
    private let folder: TemporaryFolder
    private let start = KeptKeys.start

    init() throws {
        folder = try TemporaryFolder()
        try keyring.generateSender(named: "newsroom", at: start)
        try keyring.generateSender(named: "weather", at: start)
    }

    private var keyring: Keyring { Keyring(folder: folder.appending("Keys"), command: "test") }
    private var log: URL { folder.appending("Keys/audit.jsonl") }
    private var findings: [String] {
        get throws { try keyring.examine(at: start).map(\.code).filter { $0.hasPrefix("log-") } }
    }

    @Test("Each change adds a line with the event, the key, the time, and the command")
    func lines() throws {
        let key = try keyring.entry(named: "newsroom").key.keyID
        let line = try #require(try Checkout.text(log).split(separator: "\n").first)
        #expect(
            line == """
                {"time":"\(start.iso8601)","event":"generated","name":"newsroom","key":"\(key)","command":"test"}
                """)
        #expect(try findings == [])
    }

    @Test("Every changed bit and every truncation of the log is detected, even after further changes")
    func damage() async throws {
        let good = try [UInt8](Data(contentsOf: log))
        for bad in damages(of: good, bitCount: 80, cutCount: 40) {
            await Task.yield()
            try Data(bad).write(to: log)
            #expect(try findings == ["log-altered"], "\(bad.count) bytes")
        }
        try FileManager.default.removeItem(at: log)
        #expect(try findings == ["log-altered"])
        // Key operations continue, and don't hide it.
        try keyring.rotate("newsroom", at: start)
        #expect(try findings == ["log-altered"])
        try keyring.seal(with: nil, at: start)
        #expect(try findings == [])
    }

    @Test("A log with extra whole lines is accepted, and a partial line is removed") func longer() throws {
        let good = try Checkout.text(log)
        let line = "\(good.split(separator: "\n")[0])\n"
        for more in [line, line + line, String(line.dropLast(5)), line + "{"] {
            try Data((good + more).utf8).write(to: log)
            let copy = try Data(contentsOf: folder.appending("Keys/keyring.txt"))
            #expect(try findings == [])
            try keyring.rotate("newsroom", at: start)
            #expect(try findings == [], "\(more)")
            let text = try Checkout.text(log)
            #expect(text.hasPrefix(good) && text.split(separator: "\n").allSatisfy { $0.hasSuffix("}") })
            try copy.write(to: folder.appending("Keys/keyring.txt"))
        }
    }
}
