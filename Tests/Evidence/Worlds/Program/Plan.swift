import TestSupport

/// Everything that decides what happens in a world, besides the code that is tested.
struct Plan: Codable, Sendable {
    var seed: UInt64
    var configuration: Configuration
    var operations: [Operation]

    /// Draws a world from a seed.
    init(seed: UInt64, operationCount: Int) {
        var random = SeededGenerator(seed: seed)
        self.seed = seed
        configuration = Configuration(using: &random)
        operations = []
        for phone in 0..<configuration.phoneCount {
            operations.append(.logIn(phone: phone, user: Int.random(in: 0..<configuration.userCount, using: &random)))
        }
        operations.append(.pass(milliseconds: 5_000))
        var lastMessage = 0
        while operations.count < operationCount {
            operations.append(Operation(in: configuration, lastMessage: &lastMessage, using: &random))
        }
    }

    init(seed: UInt64, configuration: Configuration, operations: [Operation]) {
        (self.seed, self.configuration, self.operations) = (seed, configuration, operations)
    }
}

/// What stays the same in a world.
struct Configuration: Codable, Sendable, CustomStringConvertible {
    /// Seeds that found a fault stay tests. They name the version that they were drawn with.
    static let version = 8

    var userCount: Int
    var phoneCount: Int
    /// Whether the outbox has a key.
    var isKeyed: Bool
    var hasMembers: Bool
    var inFlightCount: Int
    var courierCount: Int
    var keepsRetiredKeys: Int
    var isHybrid: Bool
    var leavings: LeavingPath
    /// Whether the back end ends a session when its phone logs out, so that the service refuses it from then on.
    var endsSessions: Bool
    /// Whether Apple keeps only the newest push for a phone that is offline.
    var keepsOnlyNewest: Bool
    /// Whether the server restarts and the operator makes deferred pushes due once faults have stopped. If not, what runs must
    /// recover by itself.
    var restartsLast: Bool

    init(using random: inout SeededGenerator) {
        userCount = Int.random(in: 1...3, using: &random)
        phoneCount = Int.random(in: 1...3, using: &random)
        isKeyed = Bool.random(using: &random)
        hasMembers = Int.random(in: 0..<4, using: &random) == 0
        inFlightCount = [1, 2, 4, 16].randomElement(using: &random) ?? 1
        courierCount = Int.random(in: 1...2, using: &random)
        keepsRetiredKeys = [1, 7, 30, 30].randomElement(using: &random) ?? 30
        isHybrid = Int.random(in: 0..<16, using: &random) == 0
        leavings = Bool.random(using: &random) ? .taken : LeavingPath.allCases.randomElement(using: &random) ?? .taken
        endsSessions = Bool.random(using: &random)
        keepsOnlyNewest = Bool.random(using: &random)
        restartsLast = Bool.random(using: &random)
    }

    var description: String {
        """
        \(userCount) users, \(phoneCount) phones, an outbox \(isKeyed ? "with" : "without") a key, \(courierCount) couriers \
        of \(inFlightCount), \(keepsRetiredKeys) days for retired keys\(isHybrid ? ", hybrid keys" : ""), \
        leavings: \(leavings.rawValue)\(endsSessions ? ", a logout ends the session" : "")\(keepsOnlyNewest ? ", Apple keeps only the newest" : "")\
        \(restartsLast ? ", a restart at the end" : "")
        """
    }
}

/// What a back end answers at the path of leavings (EnrollmentHTTP 6).
enum LeavingPath: String, Codable, Sendable, CaseIterable {
    case taken
    case notFound
    case page
    case wrongMethod
    case loginFirst
    case notImplemented
}

/// One step of a world.
enum Operation: Codable, Sendable {
    case send(message: Int, user: Int, isConsiderate: Bool, secondsToLive: Int64?)
    case sendToEveryone(message: Int)
    /// Removes a thread's notifications of a user.
    case withdraw(message: Int, user: Int, thread: Int)
    /// Repeats a request whose answer didn't arrive.
    case sendAgain(message: Int)
    case logIn(phone: Int, user: Int)
    case logOut(phone: Int)
    case launch(phone: Int)
    case rotate(phone: Int)
    /// The container is lost, and the keychain stays.
    case reinstall(phone: Int)
    case connect(phone: Int, Bool)
    case replaceToken(phone: Int)
    /// The extension is killed when it has changed this many files.
    case killExtension(phone: Int, after: Int64)
    /// The app is killed when it has changed this many items.
    case killApp(phone: Int, after: Int)
    case fillDisk(phone: Int, Bool)
    /// The phone's power fails. Each change of files that wasn't synced is lost, in this percentage of cases.
    case losePower(phone: Int, percent: Int)
    case pass(milliseconds: Int64)
    /// Sets every machine's clock, so that it runs ahead of the true time, or behind it.
    case setClock(secondsAhead: Int)
    case weather(Weather)
    case crash
    /// Copies the outbox, or puts the last copy in its place.
    case copyOutbox
    case restoreOutbox
    case storeFails(count: Int)
    /// Ends a user's sessions, as after a theft.
    case endSessions(user: Int)
    /// Makes a backup, or restores it: the keychain, without the container.
    case backUp(phone: Int)
    case restore(phone: Int)
    case retry
    case replaceSender
    /// Revokes the phone's keys.
    case revoke(phone: Int)
    case retryNow
    case purgeExpired

    init(in configuration: Configuration, lastMessage: inout Int, using random: inout SeededGenerator) {
        func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
        let phone = number(0..<configuration.phoneCount)
        let user = number(0..<configuration.userCount)
        func next() -> Int {
            lastMessage += 1
            return lastMessage
        }
        switch number(0..<100) {
        case 0..<26:
            let lives = number(0..<5) == 0
            self = .send(
                message: next(), user: user, isConsiderate: number(0..<4) == 0,
                secondsToLive: lives ? Int64(number(1..<7_200)) : nil)
        case 26..<28: self = .sendToEveryone(message: next())
        case 28..<34: self = .withdraw(message: next(), user: user, thread: number(0..<2))
        case 34..<37: self = lastMessage > 0 ? .sendAgain(message: number(1..<lastMessage + 1)) : .retryNow
        case 37..<42: self = .logIn(phone: phone, user: user)
        case 42..<44: self = .logOut(phone: phone)
        case 44..<50: self = .launch(phone: phone)
        case 50..<51: self = .rotate(phone: phone)
        case 51..<53:
            self =
                [
                    .reinstall(phone: phone), .replaceSender, .revoke(phone: phone), .endSessions(user: user),
                    .backUp(phone: phone), .restore(phone: phone), .copyOutbox, .restoreOutbox,
                ][number(0..<8)]
        case 53..<57: self = .connect(phone: phone, number(0..<2) == 0)
        case 57: self = .replaceToken(phone: phone)
        case 58..<60: self = .killExtension(phone: phone, after: Int64(number(0..<40)))
        case 60: self = .killApp(phone: phone, after: number(0..<12))
        case 61: self = .fillDisk(phone: phone, number(0..<3) == 0)
        case 62: self = .losePower(phone: phone, percent: [30, 70, 100][number(0..<3)])
        case 63..<88:
            // Up to half a year: records and keys expire, and a message's time ends, while nobody uses the app.
            let day = 86_400_000
            let spans = [(1, 1_000), (1_000, 60_000), (60_000, 3_600_000), (3_600_000, 3 * day), (3 * day, 180 * day)]
            let (least, most) = spans[[0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 4][number(0..<16)]]
            self = .pass(milliseconds: Int64(number(least..<most)))
        case 88..<92: self = .weather(Weather(using: &random))
        case 92..<94: self = .crash
        case 94:
            self = number(0..<2) == 0 ? .storeFails(count: number(1..<4)) : .setClock(secondsAhead: number(-300..<301))
        case 95..<97: self = .retry
        case 97..<99: self = .retryNow
        default: self = .purgeExpired
        }
    }
}

/// How often things go wrong between machines, in percent.
struct Weather: Codable, Sendable {
    /// The longest time that a request, an answer, or a push takes.
    var milliseconds = 50
    var losesRequests = 0
    var losesAnswers = 0
    var repeats = 0
    var refuses = 0
    /// Whether Apple answers 410 without a time, or with a wrong status.
    var isOdd = false

    static let clear = Weather()

    init() {}

    init(using random: inout SeededGenerator) {
        guard Int.random(in: 0..<4, using: &random) > 0 else { return }
        milliseconds = [10, 1_000, 30_000, 600_000].randomElement(using: &random) ?? 10
        func rate() -> Int { Bool.random(using: &random) ? 0 : Int.random(in: 1...40, using: &random) }
        (losesRequests, losesAnswers, repeats, refuses) = (rate(), rate(), rate(), rate())
        isOdd = Int.random(in: 0..<4, using: &random) == 0
    }
}

extension Operation: CustomStringConvertible {
    var description: String {
        switch self {
        case .send(let message, let user, let isConsiderate, let seconds):
            "send message \(message) to user \(user)\(isConsiderate ? ", considerately" : "")"
                + (seconds.map { ", for \($0) seconds" } ?? "")
        case .sendToEveryone(let message): "send message \(message) to everyone"
        case .withdraw(let message, let user, let thread):
            "withdraw thread \(thread) of user \(user) (message \(message))"
        case .sendAgain(let message): "repeat the request for message \(message)"
        case .logIn(let phone, let user): "user \(user) logs in on phone \(phone)"
        case .logOut(let phone): "phone \(phone) logs out"
        case .launch(let phone): "phone \(phone) launches its app"
        case .rotate(let phone): "phone \(phone) makes a new key"
        case .reinstall(let phone): "phone \(phone) loses its container, and keeps its keychain"
        case .connect(let phone, let isOnline): "phone \(phone) goes \(isOnline ? "online" : "offline")"
        case .replaceToken(let phone): "phone \(phone) gets another token"
        case .killExtension(let phone, let count):
            "phone \(phone) will kill its extension after \(count) changes of files"
        case .killApp(let phone, let count): "phone \(phone) will kill its app after \(count) changes of its keychain"
        case .fillDisk(let phone, let isFull): "the disk of phone \(phone) \(isFull ? "is full" : "has room")"
        case .losePower(let phone, let percent):
            "the power of phone \(phone) fails, which loses \(percent) % of what isn't synced"
        case .pass(let milliseconds): "\(Double(milliseconds) / 1_000) seconds pass"
        case .setClock(let seconds): "the clocks are set to \(seconds) seconds ahead of the true time"
        case .weather(let weather):
            """
            the network takes up to \(weather.milliseconds) ms, loses \(weather.losesRequests) % of requests and \
            \(weather.losesAnswers) % of answers, repeats \(weather.repeats) %; Apple refuses \(weather.refuses) %\
            \(weather.isOdd ? " oddly" : "")
            """
        case .crash: "the server is killed and starts again"
        case .copyOutbox: "the operator copies the outbox"
        case .restoreOutbox: "the outbox is lost, and the operator restores the copy"
        case .storeFails(let count): "the next \(count) transactions fail, before or after they are stored"
        case .replaceSender: "the operator replaces the sender, whose key was stolen"
        case .revoke(let phone): "phone \(phone) revokes its keys"
        case .endSessions(let user): "the sessions of user \(user) end"
        case .backUp(let phone): "phone \(phone) is backed up"
        case .restore(let phone): "phone \(phone) is restored from its backup"
        case .retry: "the operator retries the dead letters"
        case .retryNow: "the operator makes deferred pushes due"
        case .purgeExpired: "the operator purges expired pushes"
        }
    }
}
