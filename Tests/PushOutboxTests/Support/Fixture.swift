import Foundation
import GRDB
import PushCore
import PushOutbox
import PushPostgres
import PushSender
import SealedPush
import TestPrograms
import TestSupport

/// An outbox in a folder of its own, with a sender and devices whose keys are at hand.
final class Fixture: Sendable {
    let folder: TemporaryFolder
    let time = FakeClock()
    let sender = SenderPrivateKey()
    let sealer: Sealer
    let outbox: Outbox
    /// Nil for a file.
    let database: PostgresServer.Database?

    static let topic: Topic = "com.example.app"

    /// What vouches for the rows of a test's outboxes.
    @TaskLocal static var key: OutboxKey?

    init() async throws {
        folder = try TemporaryFolder()
        sealer = Sealer(sender: sender, topic: Self.topic, safeDefault: "You have a new message!")
        switch StoreKind.current {
        case .sqlite:
            database = nil
            outbox = try Outbox(at: Self.path(folder), clock: time.clock, busyLimit: 600, key: Self.key)
        case .postgres:
            let database = try await PostgresServer.shared.value.database()
            self.database = database
            outbox = try await Outbox(
                postgres: database.address, clock: time.clock, patience: .seconds(300), key: Self.key)
        }
    }

    static func path(_ folder: TemporaryFolder) -> String { folder.appending("outbox.db").path }

    var path: String { Self.path(folder) }

    /// What a program names it by.
    var place: String { database?.address ?? path }

    /// Another process's view of the same outbox.
    func reopened() async throws -> Outbox { try await reopened(time.clock) }

    /// - Parameter clock: in PostgreSQL, nil is the database's own.
    func reopened(_ clock: OutboxClock?) async throws -> Outbox {
        if let database {
            return try await Outbox(postgres: database.address, clock: clock, patience: .seconds(300), key: Self.key)
        }
        return try Outbox(at: path, clock: clock ?? .system, busyLimit: 600, key: Self.key)
    }

    /// Statements of an operator, or of an attacker, which do for both stores.
    func execute(_ sql: String) async throws {
        if let database {
            try await database.run(sql)
        } else {
            try await DatabaseQueue(path: path).write { try $0.execute(sql: sql) }
        }
    }

    /// The one number that a query answers.
    func number(_ sql: String) async throws -> Int64? {
        if let database { return try await database.run(sql).first?.first.flatMap { $0.flatMap { Int64($0) } } }
        return try await DatabaseQueue(path: path).read { try Int64.fetchOne($0, sql: sql) }
    }

    var now: Timestamp { Timestamp(clamping: time.now / 1_000) }

    /// A device whose key nobody vouches for, which is enough where it is about sending.
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

    /// Many at once, `d0` and so on, each with keys of its own.
    func addDevices(_ numbers: Range<Int>) async throws {
        let devices = numbers.map { number in
            RegisteredDevice(
                name: DeviceName(parsing: "d\(number)")!, user: "anna", topic: Self.topic,
                keys: .unverified(DevicePrivateKey().recipient),
                address: .active(Self.address("d\(number)"), registered: now))
        }
        try await outbox.register(devices)
    }

    /// 32 bytes that repeat the name.
    static func address(_ name: String, _ environment: PushEnvironment = .production) -> Address {
        let bytes = Array(String(repeating: "\(name)/", count: 32).utf8.prefix(32))
        return .apns(DeviceToken(parsing: Hex.encode(bytes))!, environment)
    }

    @discardableResult func enqueue(
        _ body: String, to audience: Audience, priority: PushPriority = .immediate, expiration: Timestamp? = nil,
        key: String? = nil
    ) async throws -> EnqueueReport {
        try await outbox.enqueue(
            Content(body: body), to: audience, from: sealer, priority: priority, expiration: expiration,
            includingUnverified: true, key: key.flatMap { IdempotencyKey($0) })
    }

    /// Limits under which a fake clock goes through a day in a moment.
    static func limits(inFlight: Int = 4) -> CourierLimits {
        CourierLimits(inFlightCount: inFlight, pollInterval: .seconds(20))
    }

    /// The other limits, where only this one matters.
    static func limits(refusedInARow: Int) -> CourierLimits {
        var limits = limits(inFlight: 1)
        limits.refusedInARow = refusedInARow
        return limits
    }

    @discardableResult func deliver(
        _ transport: ScriptedTransport, until goal: Courier.Goal = .nothingDue(within: .zero), inFlight: Int = 4
    ) async throws -> CourierReport {
        try await Courier(for: outbox, through: transport, limits: Self.limits(inFlight: inFlight)).run(until: goal)
    }

    /// What a device shows for a payload.
    func body(of request: PushRequest, for identity: DevicePrivateKey) throws -> String? {
        let opener = Opener(
            topic: Self.topic, keys: InMemoryKeyStore([DeviceKey(identity, created: now)]), trusting: [sender.sender])
        let object = try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any]
        let text = object?[SealedPayload.fieldName] as? String ?? ""
        return try opener.open(Envelope(parsing: text), at: now).content.alert.body
    }
}
