internal import Foundation
internal import Glibc
internal import PushOutbox
internal import PushSender
internal import PushSimulator
internal import SealedPush
internal import TestPrograms
internal import TestSupport

/// A run of real programs from end to end: a sender that is killed repeatedly, a local APNs with faults, and devices that
/// stay on.
package final class EndToEndRun {
    package let folder: RunFolder
    package private(set) var outcome: RunOutcome
    private let plan: RunPlan
    private let report: (Progress) -> Void
    private let devicesOutput: GrowingFile
    private let acknowledged: GrowingFile
    private var acknowledgedCount = 0
    /// The log of the local APNs.
    private var log: GrowingFile?
    private var random: SeededGenerator
    private var running: [ChildProcess] = []
    private var sender: ChildProcess?
    private let newsroom = Newsroom()
    private let keys: KeyChanges
    private let start = ContinuousClock.now
    private var lastReport = ContinuousClock.now
    private var lastSample = ContinuousClock.now

    /// The progress of a run.
    package struct Progress: Sendable {
        package let elapsed: Duration
        package let pushCount: Int
        package let shownCount: Int
        package let killCount: Int
        package let senderByteCount: Int
        package let serverByteCount: Int
        package let devicesByteCount: Int
    }

    /// An error in the run itself.
    package struct Failed: Error, CustomStringConvertible { package let description: String }

    /// Creates the folder's contents.
    ///
    /// - Parameter report: Called about every two seconds.
    package init(_ plan: RunPlan, in folder: RunFolder, report: @escaping (Progress) -> Void = { _ in }) throws {
        self.plan = plan
        self.report = report
        self.folder = folder
        outcome = RunOutcome(plan)
        random = SeededGenerator(seed: plan.seed)
        try folder.write(plan)
        for file in [folder.acknowledged, folder.output(of: "devices")] { try Data().write(to: file) }
        devicesOutput = try GrowingFile(folder.output(of: "devices"))
        acknowledged = try GrowingFile(folder.acknowledged)
        keys = try KeyChanges(plan, newsroom, folder)
    }

    /// Runs the whole plan. When it returns or throws, every process has ended. When it returns, the outcome is judged.
    package func run() throws {
        defer { for process in running + [sender].compactMap({ $0 }) { process.kill() } }
        let enrolled = try makeKeys()
        let server = try startServer()
        let devices = try startDevices()
        try wait(for: "the devices to be online") { outcome.shown.tokens.count == plan.deviceCount }
        try register(enrolled)
        outcome.preparation = ContinuousClock.now - start

        let changing = Work { [keys] in try await keys.run() }
        defer { keys.end() }
        let sendingStart = ContinuousClock.now
        for kill in KillPlan.make(plan, &random) { try send(server, devices, until: kill) }
        try send(server, devices, until: nil)
        outcome.duration = ContinuousClock.now - sendingStart

        // Pushes that the server has sent are still in transit, and one may be a second showing.
        try wait(for: "the devices to show all that was sent") { outcome.shown.lineCount >= outcome.requests.sentCount }
        keys.end()
        outcome.keyChanges = try changing.wait()
        outcome.shown.mayGoOffline = true
        for process in [devices, server] {
            Glibc.kill(process.identifier, SIGINT)
            let ending = process.wait()
            if ending != .exited(0) { outcome.faults.add("a simulator ended with \(ending)") }
        }
        readOn()
        try search()
        try outcome.judge(acknowledged: numbers(in: folder.acknowledged))
    }

    // MARK: Before

    private func makeKeys() throws -> [EnrolledDevice] {
        try newsroom.sender.withSecretText { try Data($0).write(to: folder.senderKey) }
        // Earlier than any message, because messages from before a device's key aren't opened.
        return try keys.enroll(at: .now().advanced(bySeconds: -3_600))
    }

    private func startServer() throws -> ChildProcess {
        let path = folder.apns.path(percentEncoded: false)
        let server = try start(
            "server", "device-simulator",
            ["apns", "--folder", path, "--log", "payloads", "--seed", "\(plan.seed)"] + plan.faults.arguments)
        running.append(server)
        try wait(for: "the local APNs") {
            FileManager.default.fileExists(atPath: folder.apns.appending(path: "address.json").path)
        }
        log = try GrowingFile(folder.apnsLog)
        return server
    }

    private func startDevices() throws -> ChildProcess {
        let devices = try start(
            "devices", "device-simulator",
            [
                "run", "--device", "phone", "--count", "\(plan.deviceCount)", "--apns",
                folder.apns.path(percentEncoded: false), "--topic", Newsroom.topic.description, "--keyring",
                folder.url.appending(path: "None").path(percentEncoded: false), "--trust", newsroom.trusted, "--state",
                folder.states.path(percentEncoded: false), "--json",
            ])
        running.append(devices)
        return devices
    }

    private func register(_ enrolled: [EnrolledDevice]) throws {
        let devices = try enrolled.enumerated().map { number, enrolled in
            let text = RunPlan.deviceName(number)
            guard let name = DeviceName(parsing: text), let user = UserName(parsing: text),
                let token = outcome.shown.tokens[text].flatMap({ DeviceToken(parsing: $0) })
            else { throw Failed(description: "no token for \(text)") }
            return RegisteredDevice(
                name: name, user: user, topic: Newsroom.topic, keys: .enrolled(enrolled),
                address: .active(.apns(token, .sandbox), registered: .now()))
        }
        try Work { [keys] in try await keys.register(devices) }.wait()
    }

    /// A task that synchronous code can wait for.
    private final class Work<Value: Sendable>: @unchecked Sendable {
        // Written before the semaphore is signaled, and read after it.
        private var result: Result<Value, any Error>?
        private let isDone = DispatchSemaphore(value: 0)

        init(_ body: @escaping @Sendable () async throws -> Value) {
            Task {
                do { result = .success(try await body()) } catch { result = .failure(error) }
                isDone.signal()
            }
        }

        func wait() throws -> Value {
            isDone.wait()
            guard let result else { throw Failed(description: "a task ended without a result") }
            return try result.get()
        }
    }

    // MARK: While it runs

    /// Runs a sender until it should be killed, or until it ends.
    private func send(_ server: ChildProcess, _ devices: ChildProcess, until kill: KillPlan?) throws {
        let remaining = (kill?.pushCount ?? 0) - outcome.requests.pushes.count
        // The sender counts by itself if it should die between a response and its record in the outbox.
        let words = kill?.kind == .afterAnswer ? ["\(max(1, remaining))"] : []
        let process = try start(
            "sender-\(outcome.killCount + 1)", "soak", ["sender", folder.url.path(percentEncoded: false)] + words)
        // A thousand phones must not be slower than one server, so they have priority if they share its cores.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(process.identifier), 10)
        sender = process
        try wait(for: "the sender") {
            watch(process, server, devices)
            if kill?.kind == .anyMoment, outcome.requests.pushes.count >= kill?.pushCount ?? 0 {
                usleep(UInt32.random(in: 0...50_000, using: &random))
                process.kill()
            }
            return process.hasEnded
        }
        let ending = process.wait()
        sender = nil
        guard let kill else {
            if ending != .exited(0) { throw Failed(description: "the sender ended with \(ending): \(senderWords())") }
            return
        }
        guard ending == .signaled(SIGKILL) else {
            throw Failed(description: "the sender ended with \(ending) before it was killed: \(senderWords())")
        }
        outcome.killCount += 1
        if kill.kind == .afterAnswer { outcome.killsAfterAnswer += 1 }
        // Includes the journal, which a sender deletes when it exits normally.
        try searchOutbox()
    }

    private func watch(_ process: ChildProcess, _ server: ChildProcess, _ devices: ChildProcess) {
        guard ContinuousClock.now - lastSample > .milliseconds(100) else { return }
        lastSample = .now
        let progress = Double(outcome.requests.pushes.count) / Double(plan.messageCount)
        // Measured by sealed messages, which are ahead of sent ones.
        keys.note(
            progress: Double(acknowledgedCount) / Double(plan.messageCount), revoking: outcome.shown.haveShownFirstHalf)
        outcome.senderMemory.sample(process.identifier, progress: progress)
        outcome.serverMemory.sample(server.identifier, progress: progress)
        outcome.devicesMemory.sample(devices.identifier, progress: progress)
        guard ContinuousClock.now - lastReport > .seconds(2) else { return }
        lastReport = .now
        report(
            Progress(
                elapsed: lastReport - start, pushCount: outcome.requests.pushes.count, shownCount: outcome.shown.count,
                killCount: outcome.killCount,
                senderByteCount: outcome.senderMemory.now, serverByteCount: outcome.serverMemory.now,
                devicesByteCount: outcome.devicesMemory.now))
    }

    private func readOn() {
        devicesOutput.forEachNewLine { outcome.shown.add(line: $0) }
        acknowledged.forEachNewLine { _ in acknowledgedCount += 1 }
        log?.forEachNewLine { outcome.requests.add(line: $0) }
    }

    /// Checks a condition a hundred times a second, as long as there is progress.
    private func wait(for what: String, until condition: () throws -> Bool) throws {
        var last = (count: -1, time: ContinuousClock.now)
        while true {
            readOn()
            if try condition() { return }
            let count = outcome.shown.lineCount + outcome.shown.tokens.count + outcome.requests.requestCount
            if count != last.count { last = (count, .now) }
            guard ContinuousClock.now - last.time < .seconds(120) else {
                throw Failed(
                    description: "no progress for two minutes while waiting for \(what): "
                        + "\(outcome.shown.count) messages shown. \(senderWords())")
            }
            usleep(10_000)
        }
    }

    private func start(_ name: String, _ program: String, _ arguments: [String]) throws -> ChildProcess {
        let output = folder.output(of: name)
        if !FileManager.default.fileExists(atPath: output.path(percentEncoded: false)) { try Data().write(to: output) }
        let handle = try FileHandle(forWritingTo: output)
        return try Program(program).start(
            arguments, output: handle, errors: name == "devices" ? .standardError : handle)
    }

    private func senderWords() -> String {
        let file = folder.output(of: "sender-\(outcome.killCount + 1)")
        return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    }

    private func numbers(in file: URL) throws -> [Int] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { Int($0) }
    }

    // MARK: Plaintext

    /// Searches everything in transit after the run: the files of the sender and of the local APNs.
    private func search() throws {
        try searchOutbox()
        var files = try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix("sender-") && $0.pathExtension == "out" }
        files += [folder.senderLog, folder.senderMetrics, folder.output(of: "server")]
        files += try Checkout.allFiles(in: folder.apns)
        for file in files { try outcome.search(file) }
    }

    /// Searches copies of the outbox's files, made by another process. If this process closed a file that SQLite has open
    /// here for the apps' records, it would drop SQLite's locks. Source: sqlite.org/howtocorrupt.html, 2.2.
    private func searchOutbox() throws {
        let copies = folder.url.appending(path: "Copies")
        try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
        for file in folder.outboxFiles {
            let copy = copies.appending(path: file.lastPathComponent)
            let result = try Program(at: "/bin/cp").run(file.path, copy.path)
            // A sender that exits normally may delete its journal.
            guard result.status == 0 else { continue }
            try outcome.search(copy)
        }
        try FileManager.default.removeItem(at: copies)
    }
}
