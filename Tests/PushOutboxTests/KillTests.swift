import Foundation
import PushOutbox
import PushSender
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// Kills real processes; the state that they leave behind must be intact.
@Suite("Killed at any point", .serialized, .blocking, .overDatabases) struct KillTests {
    private static let worker = Program("outbox-worker")
    private static let deviceCount = 7
    private let fixture: Fixture
    private let phones = (0..<deviceCount).map { _ in DevicePrivateKey() }
    private var acknowledged: String { fixture.folder.appending("acknowledged").path }
    private var log: String { fixture.folder.appending("log").path }
    private var key: String { fixture.folder.appending("key").path }
    /// Names the file with the outbox's key, if it has one.
    private let environment: [String: String]

    init() async throws {
        fixture = try await Fixture()
        for (number, phone) in phones.enumerated() { try await fixture.addDevice("d\(number)", identity: phone) }
        let outboxKey = fixture.folder.appending("outbox.key")
        try Fixture.key?.withSecretText { text throws in try Data(text).write(to: outboxKey) }
        environment = Fixture.key == nil ? [:] : ["OUTBOX_KEY_FILE": outboxKey.path]
        let url = URL(filePath: key)
        try fixture.sender.withSecretText { try Data($0).write(to: url) }
        for path in [acknowledged, log] { #expect(FileManager.default.createFile(atPath: path, contents: nil)) }
    }

    @Test(
        "after kills at random moments, acknowledged pushes are sent in order, under one identifier, and are enqueued once"
    )
    func random() async throws {
        var generator = SeededGenerator()
        let given = ProcessInfo.processInfo.environment["KILLS"].flatMap { Int($0) }
        let count = given ?? Thoroughness.count(StoreKind.current == .sqlite ? 4 : 2, thorough: 60)
        for round in 0..<count {
            let first = try acknowledgedNumbers().last ?? 0
            let sending = try start(enqueueing(from: first))
            let working = try start(["work", fixture.place, log, "5", "stopped"])
            // Every third time while they start; otherwise, after a few messages.
            let awaited = round % 3 == 0 ? 0 : Int.random(in: 1...5, using: &generator)
            try waitForAcknowledgements(awaited, beyond: first, of: sending)
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...30, using: &generator)))
            let isSendingFirst = Bool.random(using: &generator)
            (isSendingFirst ? sending : working).kill()
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...30, using: &generator)))
            (isSendingFirst ? working : sending).kill()
            for process in [sending, working] { _ = process.wait() }
        }
        try finish(minimum: count / 2)
    }

    @Test(
        "kills at each system call that writes, syncs, or locks lose and duplicate nothing",
        .enabled(if: Machine.canTrace, "strace is missing, or may not trace processes."), .withoutKey, .inFile,
        arguments: ["pwrite64", "fdatasync", "fcntl", "write"])
    func exactInFile(call: String) async throws { try killAtEach(call, laterCount: 6) }

    @Test(
        "kills at each system call that talks to the database server lose and duplicate nothing",
        .enabled(if: Machine.canTrace, "strace is missing, or may not trace processes."), .withoutKey, .inPostgres,
        arguments: ["sendto", "recvfrom"])
    func exactInPostgres(call: String) async throws { try killAtEach(call, laterCount: 3) }

    /// Kills the sender and the courier at the first six of these calls, and at `laterCount` of those at which messages were
    /// acknowledged before.
    private func killAtEach(_ call: String, laterCount: Int) throws {
        let strace = Program(at: "/usr/bin/strace")
        var killCount = 0
        var random = SeededGenerator()
        for occurrence in Array(1...6) + Thoroughness.sample(laterCount, of: Array(7...60), using: &random) {
            let inject = [
                "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                "inject=\(call):signal=KILL:when=\(occurrence)",
            ]
            let first = try acknowledgedNumbers().last.map { $0 + 1 } ?? 0
            // New messages each time, so that each run has work until its end.
            let sending = try strace.run(
                inject + [Self.worker.executable.path] + enqueueing(from: first, to: first + 3))
            let working = try strace.run(
                inject + [Self.worker.executable.path, "work", fixture.place, log, "0", "empty"])
            killCount += [sending, working].filter { $0.status != 0 }.count
            // Each thread's calls are counted separately, and which thread makes a call depends on the load. But the sender
            // makes at least one, and the first of any thread kills it.
            if occurrence == 1 { #expect(sending.status != 0, "the sender made no such call") }
            // Both ran to their ends: there are no more such calls to kill at.
            if sending.status == 0 && working.status == 0 { break }
        }
        print("\(call): killed \(killCount) times")
        try finish(minimum: 1)
    }

    @Test(
        "if a broadcast is killed while sealing, another call continues it, and each device gets it once",
        .withoutKey, arguments: [0, 2])
    func everyone(staying count: Int) async throws {
        var generator = SeededGenerator()
        try await fixture.addDevices(Self.deviceCount..<2_500)
        let words = ["everyone", fixture.place, key, acknowledged, "0", "1", "1"]
        let staying = try (0..<count).map { _ in try start(words) }
        var killCount = 0
        repeat {
            let killed = try start(words)
            try await Task.sleep(for: .milliseconds(Int.random(in: 20...200 + 80 * killCount, using: &generator)))
            killed.kill()
            _ = killed.wait()
            killCount += 1
        } while try count == 0 ? acknowledgedNumbers().isEmpty : !staying.allSatisfy(\.hasEnded)
        print("killed \(killCount) times")
        for process in staying { #expect(process.wait().status == 0) }
        let last = try run(words)
        #expect(last.status == 0, "\(last.errors)")
        try await eachGotOne(of: 2_500)
    }

    private func start(_ words: [String]) throws -> ChildProcess {
        try Self.worker.start(words, environment: environment)
    }

    private func run(_ words: [String]) throws -> Program.Result {
        try Self.worker.run(words, environment: environment)
    }

    /// Delivers the waiting pushes, and checks their recipients.
    private func eachGotOne(of count: Int) async throws {
        #expect(try await fixture.outbox.status().waitingCount == count)
        let working = try run(["work", fixture.place, log, "0", "empty"])
        #expect(working.status == 0, "\(working.errors)")
        let tokens = try pushes().map(\.token)
        #expect(tokens.count == count)
        #expect(Set(tokens).count == count)
    }

    private func waitForAcknowledgements(_ count: Int, beyond first: Int, of process: ChildProcess) throws {
        while count > 0, try acknowledgedNumbers().last ?? 0 < first + count {
            try #require(!process.hasEnded, "the sender ended by itself")
            usleep(1_000)
        }
    }

    private func enqueueing(from first: Int, to end: Int = 1_000_000) -> [String] {
        ["enqueue", fixture.place, key, acknowledged, "\(first)", "\(end)", "\(Self.deviceCount)"]
    }

    /// Delivers the rest undisturbed, and checks every push that was ever sent.
    private func finish(minimum: Int) throws {
        let working = try run(["work", fixture.place, log, "0", "empty"])
        #expect(working.status == 0, "\(working.errors)")
        let acknowledged = Set(try acknowledgedNumbers())
        #expect(acknowledged.count >= minimum)
        print("\(acknowledged.count) acknowledged")

        var sent: [Int: Push] = [:]
        var newest = [Int](repeating: -1, count: Self.deviceCount)
        for push in try pushes() {
            let number = try number(of: push)
            let device = number % Self.deviceCount
            #expect(push.token == Fixture.address("d\(device)").hexadecimal)
            if let earlier = sent[number] {
                // The same bytes under the same identifiers: the device shows only one.
                #expect(push == earlier)
            } else {
                #expect(number > newest[device], "sent after a later push to its device")
            }
            newest[device] = max(newest[device], number)
            sent[number] = push
        }
        let missing = acknowledged.subtracting(sent.keys).sorted()
        #expect(missing.isEmpty)
        // In addition, at most the pushes that were stored when their acknowledgement was cut off.
        #expect(Set(sent.values.map(\.apnsID)).count == sent.count)
    }

    private struct Push: Equatable {
        let apnsID: String
        let collapseID: String
        let token: String
        let body: String
    }

    private func pushes() throws -> [Push] {
        try lines(of: log).map { line in
            let fields = line.split(separator: "\t", maxSplits: 3).map(String.init)
            try #require(fields.count == 4)
            return Push(apnsID: fields[0], collapseID: fields[1], token: fields[2], body: fields[3])
        }
    }

    private func number(of push: Push) throws -> Int {
        let request = PushRequest(
            address: .apns(try #require(DeviceToken(parsing: push.token))), body: Array(push.body.utf8),
            topic: Fixture.topic,
            apnsID: push.apnsID, collapseID: push.collapseID, priority: .immediate, expiration: nil)
        for phone in phones {
            guard let body = try? fixture.body(of: request, for: phone, at: .now()) else { continue }
            return try #require(Int(body.dropFirst("message ".count)))
        }
        throw OutboxError.damaged
    }

    private func acknowledgedNumbers() throws -> [Int] { try lines(of: acknowledged).compactMap { Int($0) } }

    private func lines(of path: String) throws -> [Substring] {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).split(separator: "\n")
    }
}
