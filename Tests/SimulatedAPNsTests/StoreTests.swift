import Foundation
import TestSupport
import Testing

@testable import PushSimulator
@testable import SimulatedAPNs

@Suite("The notifications that a local APNs stores") struct StoreTests {
    private func send(_ fixture: APNsFixture, _ alert: String, _ headers: [String: String?] = [:]) throws -> String? {
        fixture.answer(try fixture.request(headers, body: #"{"aps":{"alert":"\#(alert)"}}"#))
    }

    private func acknowledgeAll(_ fixture: APNsFixture, _ link: RecordingLink) {
        for entry in link.all { fixture.registry.acknowledge(entry.number, token: entry.token, link: link) }
    }

    @Test("an offline device later gets only the newest notification, and only once") func newest() throws {
        let fixture = try APNsFixture()
        for alert in ["one", "two", "three"] { #expect(try send(fixture, alert) == nil) }
        let link = RecordingLink()
        fixture.registry.connect([fixture.device], link: link)
        #expect(link.alerts == ["three"])
        acknowledgeAll(fixture, link)
        fixture.registry.disconnect([fixture.device], link: link)
        let again = RecordingLink()
        fixture.registry.connect([fixture.device], link: again)
        #expect(again.all.isEmpty)
    }

    @Test("each app on a device has its own store") func apps() throws {
        let fixture = try APNsFixture()
        let other = fixture.registry.register(name: "phone", bundleID: "com.example.other")
        #expect(try send(fixture, "one") == nil)
        let request = try fixture.request(
            ["apns-topic": "com.example.other"], path: "/3/device/\(other)", body: #"{"aps":{"alert":"two"}}"#)
        #expect(fixture.answer(request) == nil)
        let link = RecordingLink()
        fixture.registry.connect([fixture.device, other], link: link)
        #expect(link.alerts == ["one", "two"])
    }

    @Test("an online device gets every notification, in order") func online() throws {
        let fixture = try APNsFixture()
        let link = RecordingLink()
        fixture.registry.connect([fixture.device], link: link)
        let alerts = (0..<50).map { "message \($0)" }
        for alert in alerts { #expect(try send(fixture, alert) == nil) }
        #expect(link.alerts == alerts)
    }

    @Test("all unacknowledged notifications arrive again") func unacknowledged() throws {
        let fixture = try APNsFixture()
        let link = RecordingLink()
        fixture.registry.connect([fixture.device], link: link)
        for alert in ["a", "b", "c"] { #expect(try send(fixture, alert) == nil) }
        fixture.registry.acknowledge(link.all[0].number, token: fixture.device, link: link)
        fixture.registry.disconnect([fixture.device], link: link)
        #expect(try send(fixture, "d") == nil)
        let again = RecordingLink()
        fixture.registry.connect([fixture.device], link: again)
        #expect(again.alerts == ["b", "c", "d"])
        // An acknowledgment over an ended connection has no effect.
        fixture.registry.acknowledge(again.all[0].number, token: fixture.device, link: link)
        #expect(fixture.registry.counts.unacknowledged == 3)
    }

    @Test("expiration 0 means one attempt, a date until then, and none 30 days") func expiration() throws {
        let start = APNsFixture.start
        let cases: [(String?, wait: Int64, isThere: Bool)] = [
            ("0", 0, false), ("\(start + 100)", 99, true), ("\(start + 100)", 100, false), ("\(start - 1)", 0, false),
            (nil, 30 * 86_400 - 1, true), (nil, 30 * 86_400, false), ("\(start + 90 * 86_400)", 30 * 86_400, false),
        ]
        for (expiration, wait, isThere) in cases {
            let fixture = try APNsFixture()
            #expect(try send(fixture, "x", ["apns-expiration": expiration]) == nil)
            fixture.now += wait
            let link = RecordingLink()
            fixture.registry.connect([fixture.device], link: link)
            #expect(link.all.count == (isThere ? 1 : 0), "\(expiration ?? "none") after \(wait) s")
        }
        let fixture = try APNsFixture()
        let link = RecordingLink()
        fixture.registry.connect([fixture.device], link: link)
        #expect(try send(fixture, "x", ["apns-expiration": "0"]) == nil)
        #expect(link.all.count == 1, "one attempt is made")
        fixture.registry.disconnect([fixture.device], link: link)
        fixture.registry.connect([fixture.device], link: RecordingLink())
        #expect(fixture.registry.counts.unacknowledged == 0)
    }

    @Test("the collapse ID is the identifier, and it replaces an unacknowledged notification")
    func collapse() throws {
        let fixture = try APNsFixture()
        let link = RecordingLink()
        fixture.registry.connect([fixture.device], link: link)
        #expect(try send(fixture, "old", ["apns-collapse-id": "c"]) == nil)
        #expect(link.all[0].notification.identifier == "c")
        fixture.registry.disconnect([fixture.device], link: link)
        #expect(try send(fixture, "new", ["apns-collapse-id": "c"]) == nil)
        let again = RecordingLink()
        fixture.registry.connect([fixture.device], link: again)
        #expect(again.alerts == ["new"])
    }

    @Test("a device that acknowledges nothing gets only a limited number of notifications") func backlog() throws {
        let fixture = try APNsFixture { $0.unacknowledgedLimit = 5 }
        let link = RecordingLink()
        fixture.registry.connect([fixture.device], link: link)
        for _ in 0..<5 { #expect(try send(fixture, "x") == nil) }
        #expect(try send(fixture, "x") == "TooManyRequests")
        acknowledgeAll(fixture, link)
        #expect(try send(fixture, "x") == nil)
    }

    @Test("duplicates have the configured frequency, and the same seed repeats them") func faults() throws {
        func run(seed: UInt64) throws -> [String] {
            var faults = APNsFaults()
            faults.duplicates = 0.1
            let chosen = faults
            let fixture = try APNsFixture {
                $0.faults = chosen
                $0.seed = seed
                $0.unacknowledgedLimit = 10_000
            }
            let link = RecordingLink()
            fixture.registry.connect([fixture.device], link: link)
            for number in 0..<1_000 { #expect(try send(fixture, "\(number)") == nil) }
            return link.alerts
        }
        let alerts = try run(seed: 7)
        #expect((60...140).contains(alerts.count - 1_000), "twice")
        #expect(Set(alerts).count == 1_000)
        #expect(try run(seed: 7) == alerts)
        #expect(try run(seed: 8) != alerts)
    }
}
