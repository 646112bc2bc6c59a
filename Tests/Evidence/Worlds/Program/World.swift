import Foundation
import Interposed
import PushApp
import PushCore
import PushHTTP
import PushOutbox
import PushSender
import PushService
import SealedPush
import TestPrograms
import TestSupport

/// A server, Apple, and phones in one process, which a plan leads through their lives. The same plan does the same each time.
///
/// What runs unchanged: the outbox with its rules, key, couriers, and sealer; the service's routes for phones; the client that
/// apps enroll with; the example app's object; the extension from the system's call to its end, with its ledger in files.
///
/// What is replaced, at the seams that exist: the database by `MemoryStore`; Apple and its connection by ``Apple``; HTTP between
/// phones and the server by `UnconnectedPhones`; the keychain by memory; time, randomness, and failing disks by `Interposed`.
/// ML-KEM draws random bytes of its own, so a world's log contains no ciphertext.
final class World: @unchecked Sendable {
    static let topic: Topic = "com.example.app"

    let plan: Plan
    private(set) var oracle: Oracle! = nil
    private(set) var sender: SenderPrivateKey
    /// The sender that the app's build trusts.
    let firstSender: SenderPublicKey
    private(set) var hasRotatedSender = false
    /// The senders of each set, by its counter, and when the set ends.
    private(set) var sendersOfSet: [(senders: Set<String>, expires: Timestamp)] = [([], .now())]
    let authority: AuthorityPrivateKey
    private(set) var senderSet: SenderSet?
    let outboxKey: OutboxKey?
    private(set) var rows: MemoryStore
    private var copyOfRows: MemoryStore?
    let folder: URL
    private(set) var host: Host! = nil { didSet { if let host { hosts.append(host) } } }
    /// Every life of the server's process.
    private var hosts: [Host] = []
    private(set) var phones: [Phone] = []
    /// The phone of each token, and when the token ended.
    var tokens: [[UInt8]: (phone: Int, end: Timestamp?)] = [:]
    private(set) var weather = Weather.clear
    private var random: SeededGenerator
    private var storeFaultCount = 0
    /// How many seconds the clocks run ahead of the true time.
    private var clockError = 0
    private var sleepers: [Int: Task<Void, Never>] = [:]
    private var lastSleeper = 0
    private var sessions: [String: Int] = [:]
    private var sessionCount = 0
    private var executor: SeededExecutor { .shared }
    private let isLogging: Bool
    private(set) var log: [(message: Int?, line: String)] = []
    /// The largest number of jobs that one operation took.
    private(set) var mostJobCount = 0
    private let start: Int64

    /// Begins in 2049: a deadline that some library takes from the world's clock and waits for by the machine's never comes.
    static let beginning: Int64 = 2_500_000_000

    init(_ plan: Plan, logs isLogging: Bool = false) throws {
        self.plan = plan
        self.isLogging = isLogging
        random = SeededGenerator(seed: plan.seed ^ 0x5eed)
        SeededExecutor.shared.seed(plan.seed ^ 0x7a5c)
        world_seed(plan.seed ^ 0xb17e)
        world_wall_time = Self.beginning * 1_000_000_000
        // No world begins before an earlier one of this process ended, unless that would exceed what 64 bits can count.
        world_uptime = world_uptime < .max / 2 ? world_uptime + 1_000_000_000 : 1_000_000_000
        start = world_uptime
        sender = SenderPrivateKey()
        firstSender = sender.sender
        authority = AuthorityPrivateKey()
        outboxKey = plan.configuration.isKeyed ? OutboxKey() : nil
        rows = MemoryStore(
            clock: OutboxClock(
                now: { world_wall_time / 1_000_000 }, uptime: { world_uptime / 1_000_000 }, boot: "world",
                sleep: { try? await Task.sleep(for: $0) }))
        Self.count += 1
        folder = Self.root.appending(path: "\(Self.count)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        world_use_disk(folder.path(percentEncoded: false))
        oracle = Oracle(self)
        publish([firstSender])
        host = try Host(in: self)
        phones = try (0..<plan.configuration.phoneCount).map { try Phone($0, in: self) }
        for phone in phones { Task { @MainActor in phone.start() } }
        executor.run(upTo: 100)
    }

    nonisolated(unsafe) private static var count = 0
    private static let root = URL(filePath: "/dev/shm/sealed-push-worlds-\(getpid())", directoryHint: .isDirectory)

    static func removeFiles() { try? FileManager.default.removeItem(at: root) }

    func log(_ line: @autoclosure () -> String, of message: Int? = nil) {
        guard isLogging else { return }
        let time = Double(world_uptime - start) / 1_000_000_000
        let text = String(format: "%.3f ", time) + (message.map { "message \($0): " } ?? "") + line()
        log.append((message, text))
    }

    // MARK: Chance and time

    func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    /// Returns true in this percentage of calls.
    func chance(_ percent: Int) -> Bool { percent > 0 && number(0..<100) < percent }

    func sleep(upTo milliseconds: Int) async {
        try? await Task.sleep(for: .milliseconds(number(0..<max(milliseconds, 1))))
    }

    func takeStoreFault() -> Bool {
        guard storeFaultCount > 0 else { return false }
        storeFaultCount -= 1
        return true
    }

    func sleepUntilWoken(_ duration: Duration) async {
        lastSleeper += 1
        let number = lastSleeper
        let task = Task.detached { do { try await Task.sleep(for: duration) } catch {} }
        sleepers[number] = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        sleepers[number] = nil
    }

    func wakeCouriers() { for number in sleepers.keys.sorted() { sleepers[number]?.cancel() } }

    // MARK: The life of a world

    /// Runs the plan, and returns the first promise that was broken.
    func run() -> Oracle.Failure? {
        for operation in plan.operations where oracle.failure == nil {
            log(operation.description)
            let before = executor.jobCount
            perform(operation)
            renewSet()
            executor.run(upTo: number(0..<60))
            mostJobCount = max(mostJobCount, executor.jobCount - before)
            requireRest(since: before, atMost: Self.mostJobs, "during: \(operation)")
        }
        if oracle.failure == nil { Stopwatch.measure(.promises) { settle() } }
        Stopwatch.measure(.ends) { end() }
        return oracle.failure
    }

    /// Fails if nothing comes to rest, or if it took too many jobs until then.
    private func requireRest(since count: Int, atMost most: Int, _ time: @autoclosure () -> String) {
        let count = executor.jobCount - count
        if executor.isRestless || count > most {
            oracle.fail("the program comes to rest", nil, "\(count) jobs \(time())")
        }
    }

    /// The jobs of one operation, which may take half a year and send hundreds of pushes. Usually, there are fewer than 100.
    private static let mostJobs = 1_000_000
    /// The jobs of a day on which nothing happens. A push for an address that Apple no longer knows is tried once an hour. A
    /// loop that looks every five seconds takes 140,000.
    private static let mostJobsOfQuietDay = 20_000

    private func end() {
        weather = .clear
        host.kill()
        for phone in phones { phone.process.isDead = true }
        if !executor.finish(within: .seconds(40 * 86_400)) {
            oracle.fail(executor.isRestless ? "the program comes to rest" : "every task ends", nil)
            executor.abandon()
        }
        // They own this world. Otherwise, its secrets would stay in guarded memory, of which there is little.
        for phone in phones { phone.end() }
        for host in hosts { host.end() }
        (phones, host, hosts) = ([], nil, [])
        try? FileManager.default.removeItem(at: folder)
    }

    private func perform(_ operation: Operation) {
        switch operation {
        case .send(let number, let user, let isConsiderate, let seconds):
            var content = Content(title: "User \(user)", body: "Message \(number)")
            content.sound = .named("default")
            content.threadID = Self.thread(number % 2)
            if number % 3 == 0 { content.badgeIncrement = 1 + number % 5 }
            send(
                content, number, to: user, isConsiderate ? .considerate : .immediate,
                expires: seconds.map { Timestamp.now().advanced(bySeconds: $0) })
        case .sendToEveryone(let number):
            var content = Content(title: "All", body: "Message \(number)")
            content.sound = .named("default")
            send(content, number, to: nil, .immediate)
        case .withdraw(let number, let user, let thread):
            send(Content(withdrawing: .thread(Self.thread(thread))), number, to: user, .immediate)
        case .sendAgain(let number):
            if let message = oracle.messages[number], message.mayBeRepeated { enqueue(message) }
        case .logIn(let phone, let user): phones[phone].logIn(user)
        case .logOut(let phone): phones[phone].logOut()
        case .launch(let phone): phones[phone].launch()
        case .rotate(let phone): phones[phone].rotate()
        case .reinstall(let phone):
            phones[phone].loseContainer()
            phones[phone].launch()
        case .connect(let phone, let isOnline): phones[phone].connect(isOnline)
        case .replaceToken(let phone):
            phones[phone].replaceToken()
            phones[phone].launch()
        case .killExtension(let phone, let count): phones[phone].killsExtension = count
        case .killApp(let phone, let count): phones[phone].process.changesLeft = count
        case .fillDisk(let phone, let isFull): phones[phone].isDiskFull = isFull
        case .losePower(let phone, let percent): phones[phone].losePower(percent: percent)
        case .pass(let milliseconds): executor.advance(by: .milliseconds(milliseconds))
        case .setClock(let seconds): setClock(secondsAhead: seconds)
        case .weather(let weather): self.weather = weather
        case .crash: restart()
        case .copyOutbox:
            copyOfRows = MemoryStore(copying: rows)
            oracle.copiedOutbox()
        case .restoreOutbox: restoreOutbox()
        case .storeFails(let count): storeFaultCount = count
        case .retry: operate { outbox in _ = try await outbox.retry() }
        case .retryNow: operate { outbox in try await outbox.retryNow() }
        case .replaceSender: replaceSender()
        case .endSessions(let user): endSessions(of: user)
        case .backUp(let phone): phones[phone].backUp()
        case .restore(let phone): phones[phone].restore()
        case .revoke(let phone): phones[phone].revoke()
        case .purgeExpired: operate { outbox in try await outbox.purge(.expired) }
        }
    }

    /// Signs a set of these senders, as the authority's offline machine does.
    private func publish(_ senders: [SenderPublicKey]) {
        let counter = sendersOfSet.count
        let expires = Timestamp.now().advanced(bySeconds: 360 * 86_400)
        sendersOfSet.append((Set(senders.map(\.description)), expires))
        do {
            senderSet = try SenderSet(
                of: senders, topic: Self.topic, counter: UInt64(counter), created: .now(), expires: expires,
                signedBy: authority)
        } catch { preconditionFailure("\(error)") }
    }

    /// Signs the set again when half of its time is over, as operators do.
    private func renewSet() {
        guard let set = senderSet, set.expires.seconds(since: .now()) < 180 * 86_400 else { return }
        publish([sender.sender])
        host.rereadKeys()
    }

    /// Replaces the sender, whose key was stolen: sets no longer contain it, and what it sealed isn't sent.
    private func replaceSender() {
        let old = sender.sender
        hasRotatedSender = true
        oracle.willPurge(sealedBy: .sender(old))
        sender = SenderPrivateKey()
        publish([sender.sender])
        host.rereadKeys()
        operate { outbox in try await outbox.purge(.sealed(by: .sender(old))) }
    }

    private static func thread(_ number: Int) -> String { "thread \(number)" }

    private func setClock(secondsAhead seconds: Int) {
        world_wall_time += Int64(seconds - clockError) * 1_000_000_000
        clockError = seconds
    }

    private func restart() {
        host.kill()
        do { host = try Host(in: self) } catch { preconditionFailure("\(error)") }
    }

    /// Restores the last copy, as Operations 4 says. No message that was accepted since then is sent again.
    private func restoreOutbox() {
        guard let copyOfRows else { return }
        host.kill()
        rows = MemoryStore(copying: copyOfRows)
        oracle.restoredOutbox()
        restart()
    }

    private func operate(_ work: @escaping @Sendable (Outbox) async throws -> Void) {
        let host = host!
        Task.detached { try? await work(host.outbox) }
    }

    private func send(
        _ content: Content, _ number: Int, to user: Int?, _ priority: PushPriority, expires: Timestamp? = nil
    ) {
        var content = content
        content.expires = expires
        let message = Oracle.Message(
            number: number, user: user, content: content, priority: priority, expires: expires,
            thread: content.threadID ?? "")
        oracle.asked(message)
        enqueue(message)
    }

    private func enqueue(_ message: Oracle.Message) {
        let (host, number) = (host!, message.number)
        Task.detached { [self] in
            let audience: Audience = message.user.map { .user(Self.name($0)) } ?? .everyone
            do throws(OutboxError) {
                let report = try await host.outbox.enqueue(
                    OutgoingMessage(
                        message.content, priority: message.priority, key: IdempotencyKey("message \(number)")),
                    to: audience, from: host.sealer)
                // Nobody hears a dead process.
                guard !host.isDead else { return }
                log(
                    "enqueued \(report.enqueuedCount), skipped \(report.skipped.map { "\($0.key) \($0.value)" }.sorted())",
                    of: number)
                oracle.answered(number, report)
            } catch {
                guard !host.isDead else { return }
                log("not enqueued: \(error)", of: number)
                oracle.refused(number, error)
            }
        }
    }

    static func name(_ user: Int) -> UserName {
        guard let name = UserName(parsing: "user-\(user)") else { preconditionFailure("a valid name") }
        return name
    }

    // MARK: The back end

    /// Begins a session of a user, at the app's own back end.
    func beginSession(of user: Int) -> String {
        sessionCount += 1
        let session = "session-\(sessionCount)"
        sessions[session] = user
        return session
    }

    /// Returns who is logged in with a session, or nil if it has ended.
    func user(of session: String?) -> Int? { session.flatMap { sessions[$0] } }

    /// The person leaves a session.
    func leave(_ session: String?) {
        guard plan.configuration.endsSessions, let session else { return }
        sessions[session] = nil
    }

    private func endSessions(of user: Int) {
        sessions = sessions.filter { $0.value != user }
        let host = host!
        Task.detached { try? await host.phones.endLogins(of: Self.name(user)) }
    }

    /// Answers a phone's request. The app gets a token for its session from the back end, and takes it to the service.
    func serve(_ request: FetchRequest, from phone: Phone) async -> (status: Int, body: [UInt8])? {
        let (host, path) = (host!, request.url.path)
        if host.isDead { return nil }
        if path == "/v1/leavings", plan.configuration.leavings != .taken {
            return switch plan.configuration.leavings {
            case .taken, .notFound: (404, Array(#"{"detail":"Not Found"}"#.utf8))
            case .page: (404, Array("<pre>Cannot POST</pre>".utf8))
            case .wrongMethod: (405, [])
            case .loginFirst: (401, Array(#"{"code":"unauthorized"}"#.utf8))
            case .notImplemented: (501, [])
            }
        }
        var headers = request.headers
        for (index, header) in headers.enumerated() where header.name == "Authorization" {
            let session = header.value.split(separator: " ").last.map(String.init) ?? ""
            guard let user = sessions[session],
                let token = try? host.phones.logIn(
                    Self.name(user), until: Timestamp.now().advanced(bySeconds: 600),
                    issued: world_wall_time / 1_000_000)
            else { return (401, Array(#"{"code":"unauthorized"}"#.utf8)) }
            headers[index].value = "Bearer \(token)"
        }
        let answer = try? await host.phones.answer(request.method, path, headers: headers, body: request.body ?? [])
        log("phone \(phone.number): \(request.method) \(path.prefix(24)): \(answer?.status ?? 0)")
        return host.isDead ? nil : answer
    }

    // MARK: The end of a plan

    /// Faults stop, and every promise comes due: the longest that a push waits between two attempts is some 4.4 hours, for
    /// Apple's problems, and 20 minutes for all pushes.
    private func settle() {
        let before = executor.jobCount
        let restarts = plan.configuration.restartsLast
        log("all faults stop")
        weather = .clear
        storeFaultCount = 0
        setClock(secondsAhead: 0)
        if restarts { restart() }
        for phone in phones {
            phone.killsExtension = nil
            phone.isDiskFull = false
            phone.connect(true)
        }
        executor.advance(by: .seconds(60))
        // Callers repeat what wasn't answered, and apps are launched once a day.
        for message in oracle.messages.values.sorted(by: { $0.number < $1.number }) where !message.isAnswered {
            if message.mayBeRepeated, message.expires.map({ $0 > .now() }) ?? true { enqueue(message) }
        }
        for _ in 0..<2 {
            for phone in phones { phone.launch() }
            executor.advance(by: .seconds(600))
        }
        // A login or logout that the app didn't live to finish is noticed, and done again.
        for phone in phones where user(of: phone.saved.session) != phone.person {
            if let person = phone.person { phone.logIn(person) } else { phone.logOut() }
        }
        if restarts { operate { outbox in try await outbox.retryNow() } }
        executor.advance(by: .seconds(6 * 3_600))
        for phone in phones { phone.launch() }
        executor.advance(by: .seconds(3_600))
        requireRest(since: before, atMost: Self.mostJobs, "after the faults")
        guard oracle.failure == nil else { return }
        probe()
        oracle.checkArrivals()
        check()
        passQuietDay()
    }

    /// Nothing happens for a day, so nothing should have much to do.
    private func passQuietDay() {
        guard oracle.failure == nil else { return }
        let before = executor.jobCount
        executor.advance(by: .seconds(86_400))
        requireRest(since: before, atMost: Self.mostJobsOfQuietDay, "on a quiet day")
    }

    /// Sends one more message to each user, then withdraws it.
    private func probe() {
        guard oracle.failure == nil else { return }
        var number = 1_000_000
        for user in 0..<plan.configuration.userCount {
            var content = Content(title: "User \(user)", body: "Message \(number)")
            content.sound = .named("default")
            content.threadID = "probe"
            send(content, number, to: user, .immediate)
            executor.advance(by: .seconds(30))
            for phone in phones where phone.person == user && !oracle.hasShown(number, on: phone.number) {
                oracle.fail(
                    "a phone that is logged in gets its messages once faults have stopped", number,
                    "phone \(phone.number): \(MainActor.assumeIsolated { phone.pushes.status })")
            }
            send(Content(withdrawing: .thread("probe")), number + 1, to: user, .immediate)
            executor.advance(by: .seconds(30))
            for phone in phones where phone.person == user && !oracle.hasShown(number + 1, on: phone.number) {
                oracle.fail("a withdrawal arrives once faults have stopped", number + 1, "phone \(phone.number)")
            }
            number += 2
        }
    }

    private func check() {
        let (host, oracle) = (host!, oracle!)
        for phone in phones { oracle.checkFiles(of: phone) }
        Task.detached { [self] in
            do {
                for message in oracle.messages.values.sorted(by: { $0.number < $1.number }) {
                    guard let id = message.id else { continue }
                    oracle.check(try await host.outbox.report(on: id), on: message.number)
                }
                let status = try await host.outbox.status()
                oracle.checkSums(status.outcomes)
                for (reason, count) in status.deadLetters where ["forged", "malformed", "not-sealed"].contains(reason) {
                    oracle.fail("no push is refused as tampered with, since nobody did", nil, "\(count) \(reason)")
                }
                let unusable = try await host.outbox.unusableDevices()
                if !unusable.isEmpty { oracle.fail("no device's row is invalid", nil, "\(unusable.count)") }
                log(
                    "\(status.deviceCount) devices; outcomes: \(status.outcomes.map { "\($0.key) \($0.value)" }.sorted())"
                )
            } catch { oracle.fail("the outbox can be read", nil, "\(error)") }
        }
        executor.advance(by: .seconds(60))
    }
}
