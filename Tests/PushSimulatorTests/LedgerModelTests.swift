import Foundation
import PushCore
import PushService
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// Replays what the proofs' model of the ledger does on real files: two processes are stepped through their calls, killed, and
/// cut off from power. After each transition, the files must be the model's, and what was synced must be at least as much.
@Suite("The model of the ledger, replayed", .blocking) struct LedgerModelTests {
    /// One line that a simulation prints.
    fileprivate struct Step: CustomStringConvertible {
        let event: String
        let process: Int
        let message: Int
        let identifier: Int
        let folder: State
        /// What a power loss leaves, at least.
        let disk: State
        let now: Int
        let description: String

        init?(_ line: Substring) {
            let form =
                /([A-z]+) process=(\d) message=(\d) id=(\d) floor=(\d) day=(\d) entries=(\d),(\d) rotate=(\d) original=(\d) disk=(\d),(\d),(\d),(\d) now=(\d)/
            guard let match = line.wholeMatch(of: form) else { return nil }
            (event, process, message) = (String(match.1), Int(match.2)!, Int(match.3)!)
            (identifier, now) = (Int(match.4)!, Int(match.15)!)
            folder = State(
                floor: Int(match.5)!, hasDay: match.6 == "1", entries: [2: Int(match.7)!, 3: Int(match.8)!],
                asksForKey: match.9 == "1", isOriginal: match.10 == "1" && match.5 != "0")
            disk = State(
                floor: Int(match.11)!, hasDay: match.12 == "1", entries: [2: Int(match.13)!, 3: Int(match.14)!])
            description = String(line)
        }
    }

    /// What the folder has. Messages are numbered by their times, in seconds, at the end of one day.
    fileprivate struct State: Equatable {
        /// 0 if there is none.
        var floor = 0
        var hasDay = false
        /// The request identifier in each message's entry; 0 for none, ``damaged`` for another text.
        var entries = [2: 0, 3: 0]
        var asksForKey = false
        var isOriginal = false

        static let damaged = 9
    }

    @Test("Every simulation does the same on real files") func replayed() throws {
        // Some of the sample open a message again, also under another identifier, or empty a day's folder. Chance hardly removes it before an entry is made.
        let model = ProofModel("ledger")
        let simulations = try model.simulations(Thoroughness.isThorough ? 1...400 : 282...297)
        let traces = (simulations + [try model.way(to: "tell(again)")]).map { name, lines in
            (name: name, steps: lines.compactMap(Step.init))
        }
        let events = Set(traces.flatMap { $0.steps.map(\.event) })
        #expect(
            events == [
                "deliver", "examine", "ask", "raise", "begin", "look", "make", "keep", "link", "again", "save", "shown",
                "repeated", "refused", "clean", "find", "raiseFloor", "keepFloor", "saveFloor", "drop", "remove",
                "kill", "fail", "damage", "lose",
            ])
        var (wholeCount, workers) = (0, [Worker?](repeating: nil, count: 2))
        for (name, steps) in traces {
            var replay = try Replay(by: workers)
            var isWhole = true
            for (number, step) in steps.enumerated() {
                isWhole = try !replay.isBeyond(step)
                guard isWhole else { break }
                let difference = try replay.take(step)
                try #require(difference == nil, "\(name), step \(number + 1), \(step): \(difference ?? "")")
            }
            workers = replay.idle
            if isWhole { wholeCount += 1 }
        }
        #expect(wholeCount >= traces.count * 3 / 4)
    }
}

/// A process that waits before each of its file calls.
private final class Worker {
    private let process: ChildProcess
    private let (input, output) = (Pipe(), Pipe())
    private var buffer = Data()
    /// The call that it waits to make, such as `link floor.1 tmp.2`; nil if it has nothing to do.
    private(set) var call: [Substring]?
    /// The end of its last command.
    private(set) var answer: String?

    init() throws {
        process = try Program("ledger-worker").start(
            [], input: input.fileHandleForReading, output: output.fileHandleForWriting)
        // If the process ends, reading its output must, too.
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
    }

    deinit { kill() }

    func kill() {
        process.kill()
        _ = process.wait()
    }

    func start(_ command: String) throws {
        answer = nil
        try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        try read()
    }

    /// Lets it make its call, and returns when it waits for the next.
    func proceed() throws {
        try input.fileHandleForWriting.write(contentsOf: Data([1]))
        try read()
    }

    private func read() throws {
        var end = buffer.firstIndex(of: UInt8(ascii: "\n"))
        while end == nil {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw CocoaError(.fileReadUnknown) }
            buffer += more
            end = buffer.firstIndex(of: UInt8(ascii: "\n"))
        }
        let line = String(decoding: buffer[..<end!], as: UTF8.self)
        buffer = Data(buffer[(end! + 1)...])
        call = line.split(separator: " ")
        if line.hasPrefix("end ") { (answer, call) = (String(line.dropFirst("end ".count)), nil) }
    }
}

private struct Replay {
    typealias Step = LedgerModelTests.Step
    typealias State = LedgerModelTests.State

    /// The calls of each transition, with the kinds of their files: `?` for one that may be left out, `*` for any number. An
    /// opening can be refused at several points.
    private static let calls: [String: [String]] = {
        let mark = ["list ledger*", "sync ledger?", "unlink tmp", "sync ledger?"]
        let placed = ["sync ledger?", "unlink tmp?", "sync ledger?", "list ledger?", "unlink floor*"]
        return [
            "deliver": [], "clean": [], "shown": [], "repeated": [],
            "examine": ["list ledger", "list ledger*"],
            "ask": ["mkdir ledger*", "sync tmp", "link rotate", "sync ledger?", "unlink tmp", "sync ledger?"],
            "raise": ["sync tmp", "link floor"] + placed,
            "begin": [
                "sync origin?", "sync ledger?", "sync tmp?", "rename text?", "sync ledger?", "list ledger",
            ],
            "look": ["read entry"],
            "make": ["mkdir day", "sync ledger?", "list day"],
            "keep": ["sync ledger?"],
            "link": ["sync tmp", "link entry", "unlink tmp?", "read entry?"],
            "again": ["sync tmp", "link entry", "unlink tmp"],
            "save": ["sync day", "unlink tmp?"],
            "refused": ["read entry?", "sync tmp?", "link entry?", "unlink tmp?", "read entry?"],
            "find": ["list ledger", "list ledger", "sync ledger", "list day?"],
            "raiseFloor": ["sync tmp", "link floor"],
            "keepFloor": [],
            "saveFloor": placed,
        ]
    }()

    private static let last: Int64 = 20_000 * 86_400 - 1
    /// Message 3 is sent in the last second of a day, so that a purge removes the day's folder.
    private static func time(_ number: Int) -> Int64 { last - 3 + Int64(number) }
    private static let dayName = String(last / 86_400)

    private let parent: TemporaryFolder
    private let folder: URL
    private var workers: [Worker?]
    /// The clock of each process, and the messages whose entries its purge found.
    private var clocks = [0, 0]
    private var found: Set<Int> = []
    private var hasLost = false
    /// What was synced.
    private var disk = State(floor: 1)
    private var syncedFiles: Set<Substring> = []

    /// - Parameter workers: Processes that have nothing to do.
    init(by workers: [Worker?]) throws {
        self.workers = workers
        parent = try TemporaryFolder(inMemory: true)
        folder = parent.appending("ledger")
        try FileLedger(folder: folder).begin(floor: Timestamp(clamping: Self.time(1)), asksForNewKey: false)
    }

    /// Whether the model does what the code leaves out. Its purge goes on if the ledger was lost, and also drops entries that
    /// came after it looked. Its floor begins at a time that is later than the process's.
    func isBeyond(_ step: Step) throws -> Bool {
        switch step.event {
        case "find": !step.folder.isOriginal
        case "drop": try !found.contains(step.identifier) && state().entries[step.identifier] != 0
        case "raise": clocks[step.process] != step.now
        default: false
        }
    }

    /// Makes the calls of a transition, and returns what differs from the model.
    mutating func take(_ step: Step) throws -> String? {
        switch step.event {
        case "deliver":
            clocks[step.process] = step.now
            let times = [step.message, step.now].map(Self.time)
            try worker(step.process).start(
                "record \(folder.path) \(times[1]) \(step.message) \(times[0]) \(step.identifier)")
        case "clean": try worker(step.process).start("purge \(folder.path) \(Self.last + 40 * 86_400)")
        case "kill": end(1)
        case "fail":
            end(0)
            end(1)
            try loseSome(step.folder)
        case "damage": try Data("zz".utf8).write(to: entry(step.message))
        case "lose": try lose(step.folder)
        case "drop":
            // There may be no such entry.
            let name = entry(step.identifier).lastPathComponent
            if try worker(step.process).call?.last?.hasSuffix(name) == true { try proceed(step.process) }
        case "remove": while try worker(step.process).call != nil { try proceed(step.process) }
        default:
            guard let calls = Self.calls[step.event] else { return "it is unknown" }
            if let difference = try follow(calls, step.process) { return difference }
        }
        if step.event == "find" { found = Set(step.folder.entries.filter { $0.value != 0 }.keys) }
        if ["shown", "repeated", "refused"].contains(step.event) {
            let worker = try worker(step.process)
            guard worker.answer == step.event else {
                return
                    "it waits to \(worker.call?.joined(separator: " ") ?? "do nothing"): \(worker.answer ?? "no answer")"
            }
        }
        let state = try state()
        if state != step.folder { return "the folder has \(state)" }
        // The model loses power or the ledger once.
        hasLost = hasLost || ["fail", "lose"].contains(step.event)
        let isDurable =
            hasLost
            || disk.floor >= step.disk.floor && (disk.hasDay || !step.disk.hasDay)
                && step.disk.entries.allSatisfy { $0.value == 0 || disk.entries[$0.key] != 0 }
        return isDurable ? nil : "only this is synced: \(disk)"
    }

    // MARK: Processes

    private mutating func worker(_ process: Int) throws -> Worker {
        let worker = try workers[process] ?? Worker()
        workers[process] = worker
        return worker
    }

    /// The processes that have nothing to do.
    var idle: [Worker?] { workers.map { $0?.call == nil ? $0 : nil } }

    /// Kills a process unless it has nothing to do.
    private mutating func end(_ process: Int) {
        guard let worker = workers[process], worker.call != nil else { return }
        worker.kill()
        workers[process] = nil
    }

    /// Lets a process make the calls of a transition.
    private mutating func follow(_ calls: [String], _ process: Int) throws -> String? {
        let worker = try worker(process)
        for call in calls {
            let isOptional = call.hasSuffix("?") || call.hasSuffix("*")
            let name = isOptional ? String(call.dropLast()) : call
            if !isOptional, kind(worker.call) != name { return "it waits to \(kind(worker.call)), not to \(name)" }
            if kind(worker.call) == name { try proceed(process) }
            while call.hasSuffix("*"), kind(worker.call) == name { try proceed(process) }
        }
        return nil
    }

    private func kind(_ call: [Substring]?) -> String {
        guard let call else { return "end" }
        let names = call.count > 1 ? call[1].split(separator: "/") : []
        let file =
            switch names.first {
            case nil: "ledger"
            case "rotate": "rotate"
            case "origin.text": "text"
            case _ where names.count > 1: "entry"
            case let name?: ["tmp", "floor", "origin"].first { name.hasPrefix("\($0).") } ?? "day"
            }
        return "\(call[0]) \(file)"
    }

    /// Lets a process make its call, and notes what the call has synced.
    private mutating func proceed(_ process: Int) throws {
        let worker = try worker(process)
        let (call, kind) = (worker.call ?? [], kind(worker.call))
        let hadDay = try state().hasDay
        try worker.proceed()
        let state = try state()
        switch kind {
        case "sync tmp": syncedFiles.insert(call[1])
        case "link entry": #expect(syncedFiles.contains(call[2]), "the entry's text isn't synced")
        case "sync ledger": (disk.floor, disk.hasDay) = (state.floor, state.hasDay)
        case "sync day": disk.entries = state.entries
        case "mkdir day" where !hadDay: (disk.hasDay, disk.entries) = (false, State().entries)
        default: break
        }
    }

    // MARK: Files

    private var day: URL { folder.appending(path: Self.dayName) }

    private func entry(_ message: Int) -> URL {
        let key = Hex.encode(BLAKE2b.hash(Array("\(message)".utf8), byteCount: 32))
        return day.appending(path: "\(Self.time(message))-\(key)")
    }

    private static func text(_ identifier: Int) -> String {
        identifier == State.damaged ? "" : Hex.encode(BLAKE2b.hash(Array("\(identifier)".utf8), byteCount: 32)) + "\n"
    }

    private func state() throws -> State {
        var state = State()
        let names = try DurableFiles.names(in: folder)
        let floors = names.filter { $0.hasPrefix("floor.") }.compactMap { Int64($0.dropFirst("floor.".count)) }
        state.floor = floors.max().map { Int($0 - Self.time(0)) } ?? 0
        state.hasDay = names.contains(Self.dayName)
        state.asksForKey = names.contains("rotate")
        state.isOriginal = try FileLedger(folder: folder).floor() != nil
        for message in [2, 3] {
            guard let text = try? Checkout.text(entry(message)) else { continue }
            state.entries[message] = [1, 2].first { Self.text($0) == text } ?? State.damaged
        }
        return state
    }

    /// Leaves what the model's power loss does. What was synced stays.
    private func loseSome(_ left: State) throws {
        let state = try state()
        if left.floor != state.floor { try setFloor(left.floor) }
        if !left.hasDay { try? FileManager.default.removeItem(at: day) }
        for (message, identifier) in left.entries where identifier != state.entries[message] {
            if identifier == 0 {
                try? FileManager.default.removeItem(at: entry(message))
            } else {
                try Data(Self.text(identifier).utf8).write(to: entry(message))
            }
        }
    }

    /// Loses the ledger; perhaps a file with a floor remains.
    private func lose(_ left: State) throws {
        for name in try DurableFiles.names(in: folder) where !name.hasPrefix("tmp.") {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        try setFloor(left.floor)
    }

    private func setFloor(_ floor: Int) throws {
        for name in try DurableFiles.names(in: folder) where name.hasPrefix("floor.") {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        if floor > 0 { try Data().write(to: folder.appending(path: "floor.\(Self.time(floor))")) }
    }
}
