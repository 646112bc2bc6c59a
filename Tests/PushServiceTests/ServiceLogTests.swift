import Dispatch
import Foundation
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushService

@Suite("The log") struct ServiceLogTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var log: ServiceLog { ServiceLog(folder: folder.appending("SealedPush")) }

    @Test("Every code is read back as it was written") func roundTrip() {
        let entries = ([nil] + OpenError.allCases.map { $0 }).map { reason in
            ServiceLog.Entry(
                time: Timestamp(clamping: 1_760_000_000), reason: reason, recipientKeyID: "0a0b0c0d",
                senderKeyID: reason == nil ? "01020304" : nil)
        }
        for entry in entries { log.append(entry) }
        #expect(log.entries() == entries)
    }

    @Test("The log stays within two files of 64 KiB, and keeps the newest lines") func bounded() throws {
        for number in 0..<3_000 {
            log.append(
                ServiceLog.Entry(
                    time: Timestamp(clamping: Int64(number)), reason: .rejected, recipientKeyID: "0a0b0c0d",
                    senderKeyID: "01020304"))
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.appending("SealedPush").path)
        #expect(Set(files) == ["log.jsonl", "log.1.jsonl"])
        for file in files {
            let size = try Data(contentsOf: folder.appending("SealedPush").appending(path: file)).count
            #expect(size <= 65_536)
        }
        let times = log.entries().map(\.time.secondsSince1970)
        #expect(times.last == 2_999)
        #expect(times.count > 500)
        #expect(times == Array(Int64(3_000 - times.count)..<3_000))
    }

    @Test("Lines of several writers never mix, and a damaged line affects no other") func writers() throws {
        DispatchQueue.concurrentPerform(iterations: 8) { writer in
            for _ in 0..<20 {
                ServiceLog(folder: folder.appending("SealedPush")).append(
                    ServiceLog.Entry(
                        time: Timestamp(clamping: Int64(writer))))
            }
        }
        #expect(log.entries().count == 160)
        let file = folder.appending("SealedPush").appending(path: "log.jsonl")
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        try Data(("{\"time\":1,\"outc\n[[[[\n" + text).utf8).write(to: file)
        #expect(log.entries().count == 160)
    }

    @Test("A log that can't be written has no effect") func unwritable() throws {
        let file = try folder.write("", to: "file")
        let log = ServiceLog(folder: URL(filePath: file))
        log.append(ServiceLog.Entry(time: .now()))
        #expect(log.entries().isEmpty)
    }

    @Test("A pipe in the log's place doesn't block") func pipe() throws {
        let place = folder.appending("SealedPush")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        #expect(mkfifo(place.appending(path: "log.jsonl").path, 0o600) == 0)
        log.append(ServiceLog.Entry(time: .now()))
        #expect(log.entries().isEmpty)
    }

    @Test("Key IDs are logged once a key has matched, but nothing else from a push") func publicIDsOnly() throws {
        let fixture = try Fixture()
        let opening = PushOpening(fixture.configuration(), environment: .system)
        _ = opening.present(field: try fixture.seal(), requestIdentifier: "one")
        _ = opening.present(field: "AQ", requestIdentifier: "two")
        let recipient = fixture.phone.recipient.keyID.description
        let other = try Fixture()
        _ = opening.present(field: try other.seal(), requestIdentifier: "three")
        let stranger = Sealer(sender: SenderPrivateKey(), topic: Fixture.topic, safeDefault: "wire default")
        let strange = try stranger.seal(Content(title: "Nina", body: "Lunch?"), toUnverified: fixture.phone.recipient)
        _ = opening.present(field: strange.envelope.text, requestIdentifier: "four")
        let entries = fixture.log
        #expect(entries.map(\.reason) == [nil, .malformed, .unknownRecipient, .unknownSender])
        #expect(entries.map(\.recipientKeyID) == [recipient, nil, nil, recipient])
        #expect(entries.map(\.senderKeyID) == [fixture.sender.sender.keyID.description, nil, nil, nil])
        // The ledger is in the same folder.
        let files = try Checkout.allFiles(in: fixture.root)
        #expect(files.count > 4)
        for file in files {
            let text = try Checkout.text(file) + file.lastPathComponent
            #expect(!text.contains("Nina") && !text.contains("Lunch"), "\(file.lastPathComponent)")
        }
    }
}
