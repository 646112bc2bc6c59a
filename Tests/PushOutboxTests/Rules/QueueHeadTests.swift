import PushSender
import SealedPush
import Testing

@testable import PushOutbox

@Suite("The judgment of a queue's oldest push") struct QueueHeadTests {
    private static let now: Int64 = 1_800_000_000_000

    private static let row = EntryRow(
        priority: 10, expiration: 1_800_000_600, apnsID: MessageID.random().description, collapseID: "collapse",
        body: [1, 2, 3], topic: Fixture.topic.description, address: Fixture.address("phone").bytes, device: "phone")

    private static func changed(_ change: (inout EntryRow) -> Void) -> EntryRow {
        var row = row
        change(&row)
        return row
    }

    private static func head(
        sendUntil: Int64 = now + 1, hasAddress: Bool = true, refusal: String? = nil, row: EntryRow? = row,
        taken: Int64? = nil, _ count: Int = 0
    ) -> QueueHead {
        QueueHead(
            device: 3, entry: .init(id: 7, sendUntil: sendUntil, hasAddress: hasAddress, refusal: refusal, row: row),
            takenEntry: taken, takenCount: count)
    }

    private static func order(removesExpired: Bool = true, carrier: Carrier = .apns()) -> LeaseOrder {
        LeaseOrder(
            carrier: carrier, count: 10, considerateCount: 2, duration: .seconds(60), firstNumber: 100,
            removesExpired: removesExpired)
    }

    private func judge(_ head: QueueHead, _ order: LeaseOrder = order()) -> QueueVerdict {
        head.judge(for: order, after: 0, at: Self.now)
    }

    @Test(
        "a push that can't be sent",
        arguments: [
            (QueueHead(device: 3, entry: nil, takenEntry: 7, takenCount: 2), .removeQueue),
            (head(sendUntil: now), .remove(entry: 7, outcome: "expired")),
            (head(sendUntil: .min), .remove(entry: 7, outcome: "expired")),
            // An expired push counts as expired, whatever else is wrong.
            (head(sendUntil: now, hasAddress: false), .remove(entry: 7, outcome: "expired")),
            (head(sendUntil: now, refusal: "BadDeviceToken"), .remove(entry: 7, outcome: "expired")),
            (head(sendUntil: now, row: nil), .remove(entry: 7, outcome: "expired")),
            (head(refusal: "BadDeviceToken"), .buryAll(device: 3, reason: "BadDeviceToken")),
            (head(hasAddress: false, refusal: "Unregistered"), .buryAll(device: 3, reason: "Unregistered")),
            (head(hasAddress: false), .buryAll(device: 3, reason: "no-token")),
            (head(hasAddress: false, row: nil), .buryAll(device: 3, reason: "no-token")),
            (head(row: nil), .bury(entry: 7, reason: "malformed")),
            (head(row: changed { $0.apnsID = "\r\n" }), .bury(entry: 7, reason: "malformed")),
            (head(row: changed { $0.address = [] }), .bury(entry: 7, reason: "malformed")),
            (head(row: changed { $0.device = "a\u{7}" }), .bury(entry: 7, reason: "malformed")),
        ] as [(QueueHead, QueueVerdict)])
    func rejected(head: QueueHead, verdict: QueueVerdict) { #expect(judge(head) == verdict) }

    @Test("a push that looks expired is kept as a dead letter if the time is uncertain") func uncertain() {
        let order = Self.order(removesExpired: false)
        #expect(judge(Self.head(sendUntil: Self.now), order) == .bury(entry: 7, reason: "expired"))
        guard case .lease = judge(Self.head(), order) else {
            Issue.record("a push that hasn't expired must be sent")
            return
        }
    }

    @Test(
        "a lease counts the attempts of its own push, up to a limit",
        arguments: [
            (head(), 1), (head(taken: nil, 5), 1), (head(taken: 6, 5), 1), (head(taken: 7, 0), 1),
            (head(taken: 7, 5), 6), (head(taken: 7, 1_000_000), 1_000_001), (head(taken: 7, 1 << 40), 1_000_001),
        ] as [(QueueHead, Int)])
    func attempts(head: QueueHead, attempts: Int) throws {
        let request = try #require(Self.row.request(of: .apns()))
        #expect(
            judge(head)
                == .lease(
                    Lease(device: 3, entry: 7, number: 100, attempts: attempts, request: request, entryRow: Self.row)))
    }

    @Test("an order's leases are numbered consecutively") func numbers() {
        for count in 0..<3 {
            guard case .lease(let lease) = Self.head().judge(for: Self.order(), after: count, at: Self.now) else {
                Issue.record("no lease")
                continue
            }
            #expect(lease.number == 100 + Int64(count))
        }
    }
}
