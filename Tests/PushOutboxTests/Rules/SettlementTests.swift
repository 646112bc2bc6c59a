import PushSender
import SealedPush
import Testing

@testable import PushOutbox

@Suite("The changes by a lease's outcome") struct SettlementTests {
    private static let delay = Duration.seconds(60)
    private static let gone = Settlement.addressGone(
        reason: "Unregistered", since: Timestamp(clamping: 1_800_000_000), otherwise: delay)
    private static let drop: [LeaseChange] = [
        .dropAddress(reason: "Unregistered"), .discardAll(outcome: "dropped:Unregistered"),
    ]
    private static let again: [LeaseChange] = [.release(after: delay, attempts: 2)]
    private static let unchanged: [LeaseChange] = [.release(after: .zero, attempts: 1)]

    private func lease(isProven: Bool) -> Lease {
        var row = EntryRow(
            priority: 10, expiration: nil, apnsID: MessageID.random().description, collapseID: "collapse", body: [1],
            topic: Fixture.topic.description, address: Fixture.address("phone").bytes,
            device: "phone")
        row.isProven = isProven
        return Lease(
            device: 3, entry: 7, number: 100, attempts: 2, request: row.request(of: .apns())!, entryRow: row)
    }

    @Test("an accepted push is removed, and proves its address once") func accepted() {
        let changes: [LeaseChange] = [.remove(outcome: "accepted"), .advance]
        #expect(Settlement.accepted.changes(to: lease(isProven: false)) == [.prove] + changes)
        #expect(Settlement.accepted.changes(to: lease(isProven: true)) == changes)
    }

    @Test(
        "each other outcome, and when the lease's address was registered",
        arguments: [
            (.later(delay), nil, again),
            (.later(.zero), nil, [.release(after: .zero, attempts: 2)]),
            (.returned, nil, unchanged),
            (.refused(reason: "PayloadTooLarge"), nil, [.bury(reason: "PayloadTooLarge"), .advance]),
            // The address has changed, or is disabled already.
            (gone, nil, unchanged),
            (.addressRefused(reason: "BadDeviceToken"), nil, unchanged),
            // Registered before it was gone, in the same second, and later.
            (gone, 0, drop), (gone, 1_799_999_999_999, drop), (gone, 1_800_000_000_000, again),
            (gone, 1_800_000_000_999, again), (gone, 1_800_000_001_000, again), (gone, .max, again),
            (
                .addressRefused(reason: "BadDeviceToken"), .max,
                [
                    .disableAddress(reason: "BadDeviceToken"), .bury(reason: "BadDeviceToken"),
                    .buryAll(reason: "BadDeviceToken"),
                ]
            ),
        ] as [(Settlement, Int64?, [LeaseChange])])
    func others(settlement: Settlement, registered: Int64?, changes: [LeaseChange]) {
        for isProven in [true, false] {
            #expect(settlement.changes(to: lease(isProven: isProven), registered: registered) == changes)
        }
    }

    @Test(
        "only outcomes that concern the address depend on its registration, and change it or all of a device's pushes")
    func concerns() {
        let settlements: [Settlement] = [
            .accepted, .later(Self.delay), .returned, .refused(reason: "PayloadTooLarge"), Self.gone,
            .addressRefused(reason: "BadDeviceToken"),
        ]
        let lease = lease(isProven: false)
        for settlement in settlements {
            let all = [nil, 0, Int64.max].map { settlement.changes(to: lease, registered: $0) }
            #expect((Set(all).count > 1) == settlement.concernsAddress)
            let isWide = all.joined().contains { change in
                switch change {
                case .dropAddress, .disableAddress, .discardAll, .buryAll: true
                case .remove, .bury, .prove, .release, .advance: false
                }
            }
            #expect(isWide == settlement.concernsAddress)
        }
    }
}
