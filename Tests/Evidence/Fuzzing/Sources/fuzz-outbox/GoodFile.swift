import FuzzSupport
import GRDB

@testable import PushOutbox
@testable import PushSender
@testable import SealedPush

/// A valid outbox file, with something in each of its tables.
enum GoodFile {
    static let now = Timestamp(clamping: 1_760_000_000)
    static let clock = OutboxClock(now: { now.secondsSince1970 * 1_000 }, sleep: { _ in })
    static let names: [DeviceName] = ["phone", "watch", "pad"]

    static let strict = made()
    /// The same, but its tables accept any value in any column.
    static let loose: [UInt8] = {
        lay(strict)
        write { db in
            try db.execute(sql: "PRAGMA writable_schema = ON")
            for (word, other) in [("STRICT, WITHOUT", "WITHOUT"), (") STRICT", ")"), (" NOT NULL", "")] {
                try db.execute(sql: "UPDATE sqlite_schema SET sql = replace(sql, '\(word)', '\(other)')")
            }
        }
        return bytes
    }()

    /// Writes into the file, bypassing the outbox.
    static func write(_ change: (Database) throws -> Void) {
        required {
            let database = try DatabaseQueue(path: path)
            try database.writeWithoutTransaction(change)
            try database.close()
        }
    }

    static func lay(_ bytes: [UInt8]) { folder.lay([name: bytes]) }

    private static let folder = RawFolder(target: "sealed-push-fuzz-outbox")
    private static let name = "outbox.sqlite"
    static let path = folder.path + "/" + name
    private static var bytes: [UInt8] { folder.bytes(of: name) }

    // MARK: What is in it

    static let sealer = Sealer(
        sender: senderKey, topic: "com.example.app", safeDefault: "You have a new message!",
        contexts: ContextLimits(messageCount: 1))
    static let receipt = ShownReceipt(
        ReceiptBody(
            id: ReceiptID([UInt8](repeating: 1, count: 16)), number: [UInt8](repeating: 2, count: 16), created: now,
            elapsedMilliseconds: 300, counts: (0..<25).map { UInt16($0) }))
    static let devices: [RegisteredDevice] = [
        RegisteredDevice(
            name: "phone", user: "nina", topic: "com.example.app", keys: .unverified(DevicePrivateKey().recipient),
            address: .active(address(1), registered: now)),
        RegisteredDevice(
            name: "watch", user: "nina", topic: "com.example.app",
            keys: .unverified(DevicePrivateKey(.hybrid).recipient),
            address: .active(address(2, .sandbox), registered: now)),
        RegisteredDevice(
            name: "pad", user: "otto", topic: "com.example.app", keys: .enrolled(enrolled),
            address: .active(address(3), registered: now)),
    ]

    static func address(_ number: UInt8, _ environment: PushEnvironment = .production) -> Address {
        .apns(DeviceToken(parsing: String(repeating: "0\(number)", count: 32)).unsafelyUnwrapped, environment)
    }

    private static let senderKey = required {
        try SenderPrivateKey(parsing: NamedLines(published: "test-newsroom").required("secret"))
    }
    private static let enrolled = required {
        let (identity, enrollment) = (DevicePrivateKey(), EnrollmentPrivateKey())
        let record = try DeviceRecord(
            of: [identity.recipient], topic: "com.example.app", counter: 1, created: now,
            expires: now.advanced(bySeconds: 86_400), signedBy: enrollment)
        return try EnrolledDevice(loading: enrollment.enrollment, record: record, proven: [identity.recipient])
    }

    private static func made() -> [UInt8] {
        folder.lay([:])
        waiting {
            do {
                let outbox = try Outbox(at: path, clock: clock)
                try await outbox.register(devices)
                for priority in [PushPriority.immediate, .considerate, .immediate] {
                    try await outbox.enqueue(
                        OutgoingMessage(
                            Content(body: "a text"), priority: priority, key: IdempotencyKey("key \(priority.rawValue)")
                        ), to: .everyone, from: sealer, includingUnverified: true)
                }
                let order = LeaseOrder(
                    carrier: .apns(), count: 2, considerateCount: 0, duration: .seconds(60), firstNumber: 1)
                let leases = try await outbox.store.settle(LeaseExchange(order: order)).leases
                let settled = leases.enumerated().map {
                    ($1, $0 == 0 ? Settlement.accepted : .refused(reason: "reason"))
                }
                _ = try await outbox.store.settle(LeaseExchange(settled: settled))
                try await outbox.count([receipt, receipt], refused: [.rejected: 3])
                try await (outbox.store as? SQLiteStore)?.checkpoint()
            } catch { fatalError("the good outbox can't be created: \(error)") }
        }
        return bytes
    }
}
