import Foundation
import GRDB
import PushCore
import PushPostgres
import PushSender
import SealedPush
import TestPrograms
import TestSupport

@testable import PushOutbox

/// An outbox in its own folder, with a sender and devices whose keys are available.
final class Fixture: Sendable {
    let folder: TemporaryFolder
    let time = FakeClock()
    let sender = SenderPrivateKey()
    let sealer: Sealer
    let outbox: Outbox
    /// The database, or `nil` for a file or memory.
    let database: PostgresServer.Database?
    private let memory: MemoryStore?

    static let topic: Topic = "com.example.app"

    /// The key that authenticates the rows of a test's outboxes.
    @TaskLocal static var key: OutboxKey?

    init() async throws {
        folder = try TemporaryFolder()
        sealer = Sealer(sender: sender, topic: Self.topic, safeDefault: try PayloadKind.current.safeDefault)
        switch StoreKind.current {
        case .sqlite:
            (database, memory) = (nil, nil)
            outbox = try Outbox(at: Self.path(folder), clock: time.clock, busyLimit: 600, key: Self.key)
        case .postgres:
            let database = try await PostgresServer.shared.value.database()
            (self.database, memory) = (database, nil)
            outbox = try await Outbox(
                postgres: database.address, clock: time.clock, patience: .seconds(300), rowPatience: .seconds(300),
                key: Self.key)
        case .memory:
            let memory = MemoryStore(clock: time.clock)
            (database, self.memory) = (nil, memory)
            outbox = Outbox(memory, key: Self.key)
        }
    }

    static func path(_ folder: TemporaryFolder) -> String { folder.appending("outbox.db").path }

    var path: String { Self.path(folder) }

    /// The outbox's place, as passed to programs.
    var place: String { database?.address ?? path }

    /// The outbox, with a clock that advances only on request: no courier oversleeps, however busy the machine is. With it,
    /// deliver until nothing is due: a push that isn't due would be waited for forever.
    func standingStill() async throws -> Outbox { try await reopened(time.standing) }

    /// Another process's view of the same outbox.
    func reopened() async throws -> Outbox { try await reopened(time.clock) }

    /// - Parameter clock: The clock; with PostgreSQL, nil means the database's own.
    func reopened(_ clock: OutboxClock?) async throws -> Outbox {
        if let database {
            return try await Outbox(
                postgres: database.address, clock: clock, patience: .seconds(300), rowPatience: .seconds(300),
                key: Self.key)
        }
        if let memory { return Outbox(MemoryStore(sharing: memory, clock: clock ?? .system), key: Self.key) }
        return try Outbox(at: path, clock: clock ?? .system, busyLimit: 600, key: Self.key)
    }

    /// Runs statements of an operator or an attacker that work in both stores.
    func execute(_ sql: String) async throws {
        if let database {
            try await database.run(sql)
        } else {
            try await DatabaseQueue.patient(at: path).write { try $0.execute(sql: sql) }
        }
    }

    /// Runs statements that the checks of the devices' tables would refuse, as someone with the file or the owner of the
    /// schema can.
    func executeUnchecked(_ sql: String) async throws {
        if let database { return try await database.runUnchecked(sql) }
        try await DatabaseQueue.patient(at: path).writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA ignore_check_constraints = ON; \(sql)")
        }
    }

    /// Returns the one number that a query returns.
    func number(_ sql: String) async throws -> Int64? {
        if let database { return try await database.run(sql).first?.first.flatMap { $0.flatMap { Int64($0) } } }
        return try await DatabaseQueue.patient(at: path).read { try Int64.fetchOne($0, sql: sql) }
    }

    var now: Timestamp { Timestamp(clamping: time.now / 1_000) }

    /// Adds a device with an unverified key, which is enough for sending.
    @discardableResult func addDevice(
        _ name: String, user: String = "anna", identity: DevicePrivateKey = DevicePrivateKey(), address: Address? = nil,
        environment: PushEnvironment = .production, movingFrom previous: UserName? = nil
    ) async throws -> RegisteredDevice {
        let device = RegisteredDevice(
            name: DeviceName(parsing: name)!, user: UserName(parsing: user)!, topic: Self.topic,
            keys: .unverified(identity.recipient),
            address: .active(address ?? Self.address(name, environment), registered: now))
        try await outbox.register(device, movingFrom: previous)
        return device
    }

    /// Adds a device named `phone`, with a number of waiting pushes.
    @discardableResult func addPhone(waiting count: Int = 1) async throws -> RegisteredDevice {
        let device = try await addDevice("phone")
        for number in 0..<count { try await enqueue("\(number)", to: .device("phone")) }
        return device
    }

    /// Adds many devices at once, `d0` and so on, each with its own keys.
    func addDevices(_ numbers: Range<Int>) async throws {
        try await outbox.register(
            numbers.map { number in
                RegisteredDevice(
                    name: DeviceName(parsing: "d\(number)")!, user: "anna", topic: Self.topic,
                    keys: .unverified(DevicePrivateKey().recipient),
                    address: .active(Self.address("d\(number)"), registered: now))
            })
    }

    /// Returns a device's record, just signed by its owner.
    func record(
        of recipients: [DevicePublicKey], counter: UInt64 = 1, days: Int64 = 90,
        signedBy enrollment: EnrollmentPrivateKey
    ) throws -> DeviceRecord {
        try DeviceRecord(
            of: recipients, topic: Self.topic, counter: counter, created: now,
            expires: now.advanced(bySeconds: 90 * 86_400), signedBy: enrollment)
    }

    /// Returns an address of 32 bytes that repeat the name.
    static func address(_ name: String, _ environment: PushEnvironment = .production) -> Address {
        let bytes = Array(String(repeating: "\(name)/", count: 32).utf8.prefix(32))
        return .apns(DeviceToken(parsing: Hex.encode(bytes))!, environment)
    }

    /// Returns the recipient key as text, or an empty string unless the device was added by ``addDevice``.
    func recipient(_ name: DeviceName) async throws -> String {
        guard case .unverified(let recipient) = try await outbox.device(name)?.keys else { return "" }
        return recipient.description
    }

    /// - Parameter other: Another view of the outbox, or another outbox.
    @discardableResult func enqueue(
        _ body: String = "Hello", to audience: Audience, priority: PushPriority = .immediate,
        expiration: Timestamp? = nil, key: String? = nil, in other: Outbox? = nil
    ) async throws -> EnqueueReport {
        try await (other ?? outbox).enqueue(
            OutgoingMessage(
                PayloadKind.current.content(body), priority: priority, expiration: expiration,
                key: key.flatMap { IdempotencyKey($0) }), to: audience, from: sealer, includingUnverified: true)
    }

    /// Returns limits with which a fake clock passes a day in a moment.
    static func limits(inFlight: Int = 4, refusedInARow: Int = 100) -> CourierLimits {
        var limits = CourierLimits(inFlightCount: inFlight, pollInterval: .seconds(20))
        limits.refusedInARow = refusedInARow
        return limits
    }

    @discardableResult func deliver(
        _ transport: some PushTransport = ScriptedTransport(), from other: Outbox? = nil, carrier: Carrier = .apns(),
        until goal: Courier.Goal = .nothingDue(within: .zero), inFlight: Int = 4, refusedInARow: Int = 100
    ) async throws -> CourierReport {
        try await Courier(
            for: other ?? outbox, through: transport, carrier: carrier,
            limits: Self.limits(inFlight: inFlight, refusedInARow: refusedInARow)
        ).run(until: goal)
    }

    /// A payload that is never opened.
    static let sealedText: String = {
        let sealer = Sealer(anonymousFor: topic, safeDefault: "Grüße", padding: .none)
        let payload = try? sealer.seal(Content(body: "x"), toUnverified: DevicePrivateKey().recipient)
        return String(decoding: payload?.json ?? [], as: UTF8.self)
    }()

    /// Returns what a device shows for a payload.
    ///
    /// - Parameter now: The real time, if a program has sealed it.
    func body(of request: PushRequest, for identity: DevicePrivateKey, at now: Timestamp? = nil) throws -> String? {
        let now = now ?? self.now
        let opener = Opener(
            topic: Self.topic, keys: InMemoryKeyStore([DeviceKey(identity, created: now)]), trusting: [sender.sender])
        let object = try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any]
        let text = object?[SealedPayload.fieldName] as? String ?? ""
        return try opener.open(Envelope(parsing: text), at: now).content.alert.body
    }
}

/// A clock that advances only on request, or when a task sleeps.
final class FakeClock: Sendable {
    private let milliseconds: Locked<(wall: Int64, uptime: Int64)>

    /// Begins now: a sealer writes the real time into each message, and a device checks it.
    init() { milliseconds = Locked((Timestamp.now().secondsSince1970 * 1_000, 50_000)) }

    var now: Int64 { milliseconds.withLock { $0.wall } }
    var uptime: Int64 { milliseconds.withLock { $0.uptime } }

    func advance(by duration: Duration) {
        milliseconds.withLock { times in
            times.wall += duration.milliseconds
            times.uptime += duration.milliseconds
        }
    }

    /// Sets the wall clock, as an operator or a time server does.
    func set(by duration: Duration) { milliseconds.withLock { $0.wall += duration.milliseconds } }

    /// Advances while a task sleeps. How far it advances while a push is in transit depends on the machine's load.
    var clock: OutboxClock {
        clock { duration in
            // A store in memory takes no time, but transports need some before the next poll.
            if StoreKind.current == .memory { try? await Task.sleep(for: .milliseconds(1)) }
            await Task.yield()
            if !Task.isCancelled { self.advance(by: duration) }
        }
    }

    /// Advances only on request.
    var standing: OutboxClock { clock { _ in try? await Task.sleep(for: .milliseconds(1)) } }

    private func clock(sleep: @escaping @Sendable (Duration) async -> Void) -> OutboxClock {
        OutboxClock(
            now: { self.now }, uptime: { self.uptime }, boot: "this start of the machine", sleep: sleep)
    }
}

extension DatabaseQueue {
    /// Opens a file that an outbox may be using or closing, and waits for it.
    static func patient(at path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(300)
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}

extension Outbox {
    /// Does what a courier does in one call, for tests that act as one.
    func settle(
        _ settled: [(lease: Lease, settlement: Settlement)], extending extended: [Lease] = [],
        by duration: Duration = .zero, taking order: LeaseOrder?
    ) async throws(OutboxError) -> [Lease] {
        try await store.settle(LeaseExchange(settled: settled, extended: extended, hold: duration, order: order)).leases
    }

    /// Takes leases for a minute, as a courier does; their numbers begin with this one.
    func take(_ number: Int64, count: Int = 1, considerate: Int = 0) async throws(OutboxError) -> [Lease] {
        try await settle(
            [],
            taking: LeaseOrder(
                carrier: .apns(), count: count, considerateCount: considerate, duration: .seconds(60),
                firstNumber: number))
    }

    /// Writes the whole log into the file itself.
    func checkpoint() async throws { try await (store as? SQLiteStore)?.checkpoint() }
}
