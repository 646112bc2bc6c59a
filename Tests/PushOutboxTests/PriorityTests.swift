import Foundation
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushOutbox

/// Tests that a push is stored, lined up, authenticated, and sent with one priority: the one that Apple allows for its form.
@Suite("Priorities") struct PriorityTests {
    /// A form of payload, and the device that gets it.
    private struct Form {
        let device: DeviceName
        let content: Content
        var alert: WireAlert = "You have a new message!"
        var isBackground = false

        func priority(_ wanted: PushPriority) -> PushPriority { isBackground ? .considerate : wanted }
    }

    private static func forms() throws -> [Form] {
        [
            Form(device: "text", content: Content(body: "Hello")),
            Form(
                device: "members", content: Content(body: "Hello"),
                alert: try WireAlert(title: .plain("a"), body: .plain("b"))),
            Form(device: "filtered", content: Content(withdrawing: .thread("nina"), isFiltered: true)),
            Form(device: "background", content: Content(withdrawing: .thread("nina")), isBackground: true),
        ]
    }

    private static func sealer(_ form: Form, of fixture: Fixture) -> Sealer {
        Sealer(sender: fixture.sender, topic: Fixture.topic, safeDefault: form.alert)
    }

    @Test(
        "each form of payload is stored, lined up, and sent with Apple's priority for it, and its row is authentic",
        .overDatabases, arguments: PushPriority.allCases)
    func delivered(wanted: PushPriority) async throws {
        for isBroadcast in [false, true] {
            let fixture = try await Fixture()
            let forms = try Self.forms()
            for form in forms {
                try await fixture.addDevice(form.device.description)
                try await fixture.outbox.enqueue(
                    OutgoingMessage(form.content, priority: wanted), to: isBroadcast ? .everyone : .device(form.device),
                    from: Self.sealer(form, of: fixture), includingUnverified: true)
                #expect(try await Self.row(in: fixture) == Int64(form.priority(wanted).rawValue), "\(form.device)")
            }
            let queues = try await fixture.number("SELECT MIN(priority) + MAX(priority) FROM queues")
            // The last device has only the background push.
            #expect(queues == Int64(5 + wanted.rawValue))
            let count = isBroadcast ? forms.count * (forms.count + 1) / 2 : forms.count
            try await Self.expectDelivered(count, forms, wanted, from: fixture)
        }
    }

    /// Returns the priority of the newest entry.
    private static func row(in fixture: Fixture) async throws -> Int64? {
        try await fixture.number("SELECT priority FROM entries WHERE id = (SELECT MAX(id) FROM entries)")
    }

    private static func expectDelivered(
        _ count: Int, _ forms: [Form], _ wanted: PushPriority, from fixture: Fixture
    ) async throws {
        let transport = ScriptedTransport()
        let report = try await fixture.deliver(transport, until: .empty)
        #expect(report.acceptedCount == count && report.refused.isEmpty, "\(report.refused)")
        for request in transport.delivered.all {
            #expect(request.priority == (request.isBackground ? .considerate : wanted))
        }
        #expect(transport.delivered.all.contains { $0.isBackground })
    }

    @Test("a background push in an application's transaction gets the priority that its code covers", .overKeys)
    func ownTransaction() async throws {
        for wanted in PushPriority.allCases {
            let fixture = try await StoreKind.$current.withValue(.postgres) { try await Fixture() }
            let database = try #require(fixture.database)
            let forms = try Self.forms()
            for form in forms {
                let device = try await fixture.addDevice(form.device.description)
                guard case .unverified(let recipient) = device.keys else { continue }
                let sealer = Self.sealer(form, of: fixture)
                var arguments = EnqueueArguments(
                    try sealer.seal(form.content, toUnverified: recipient), from: sealer, for: form.device,
                    priority: wanted, outboxKey: Fixture.key
                ).parameters
                // As an application passes it that never heard of background pushes.
                arguments[5] = String(wanted.rawValue)
                var call = EnqueueArguments.statement
                for (number, value) in arguments.enumerated().reversed() {
                    call = call.replacingOccurrences(of: "$\(number + 1)", with: value.map { "'\($0)'" } ?? "NULL")
                }
                #expect(try await database.run(call).first?.first == "enqueued", "\(form.device)")
                #expect(try await Self.row(in: fixture) == Int64(form.priority(wanted).rawValue), "\(form.device)")
            }
            try await Self.expectDelivered(forms.count, forms, wanted, from: fixture)
        }
    }

    @Test("a background push whose row specifies another priority is malformed, and never sent") func malformed() throws
    {
        for form in try Self.forms() {
            let payload = try Sealer(sender: SenderPrivateKey(), topic: Fixture.topic, safeDefault: form.alert)
                .seal(form.content, toUnverified: DevicePrivateKey().recipient)
            for priority in PushPriority.allCases {
                let row = EntryRow(
                    priority: priority.rawValue, apnsID: payload.apnsID, collapseID: payload.collapseID,
                    body: payload.json, topic: Fixture.topic.description, address: [1],
                    device: form.device.description)
                let isValid = !form.isBackground || priority == .considerate
                #expect(
                    PushRequest(payload, to: Fixture.address("d"), priority: priority).priority
                        == form.priority(priority))
                #expect(row.request(of: .apns())?.priority == (isValid ? priority : nil), "\(form.device) \(priority)")
            }
        }
    }
}
