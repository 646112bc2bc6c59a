import EndToEnd
import Foundation
import Testing

/// Injects each fault once, because a verdict that can't be bad would be meaningless.
@Suite("The verdict on what was shown") struct VerdictTests {
    private let plan = RunPlan(messageCount: 4, deviceCount: 2, killCount: 0, seed: 1)

    private func line(
        _ message: Int, device: Int? = nil, identifier: String? = nil, apnsID: String? = nil, replaced: Bool = false,
        outcome: String = "opened", body: String? = nil
    ) -> [UInt8] {
        let object: [String: Any] = [
            "event": "notification", "device": RunPlan.deviceName(device ?? plan.device(of: message)),
            "identifier": identifier ?? "collapse-\(message)", "apnsID": apnsID ?? "push-\(message)",
            "replaced": replaced, "outcome": outcome, "reason": "replayed", "title": plan.marker.title,
            "body": body ?? plan.body(of: message),
        ]
        return Array((try? JSONSerialization.data(withJSONObject: object)) ?? Data())
    }

    private func shown(_ lines: [UInt8]...) -> ShownMessages {
        var shown = ShownMessages(plan)
        for line in lines { shown.add(line: line) }
        return shown
    }

    @Test("the verdict is good if each message arrived once, or again in its own place") func good() {
        let shown = shown(line(0), line(1), line(0, replaced: true), line(2), line(3), line(0, replaced: true))
        #expect(shown.faults.count == 0)
        #expect(shown.count == 4)
        #expect(shown.missing.isEmpty)
        #expect(shown.replacementCount == 2)
    }

    @Test("the verdict names missing messages") func missing() { #expect(shown(line(0), line(3)).missing == [1, 2]) }

    @Test("the verdict reports a second showing under any identifier, and a safe default even in its place")
    func bad() {
        let cases: [(ShownMessages, String)] = [
            (shown(line(0), line(0)), "message 0 was shown twice"),
            (shown(line(0), line(0, identifier: "other", replaced: true)), "message 0 was shown under two identifiers"),
            (shown(line(0), line(0, apnsID: "other", replaced: true)), "message 0 was shown under two identifiers"),
            (
                shown(line(0), line(0, replaced: true, outcome: "safe-default", body: "You have a new message!")),
                "phone-1 showed no message: safe-default, replayed"
            ), (shown(line(0, body: "\(plan.body(of: 0))0")), "phone-1 showed no message: opened, replayed"),
            (shown(line(0, device: 1)), "message 0 was shown on phone-2"),
            (shown(line(0), line(2, identifier: "collapse-0")), "message 2 replaced message 0"),
            (shown(line(0, replaced: true)), "message 0 replaced a notification that was never shown"),
            (shown(Array("no JSON".utf8)), "a device printed a line that isn't an event"),
            (shown(Array(#"{"event":"offline"}"#.utf8)), "a device reported the unexpected event offline"),
        ]
        for (shown, sentence) in cases { #expect(shown.faults.sentences == [sentence]) }
    }

    private func request(
        _ message: Int, collapseID: String? = nil, payload: String = "sealed", path: String = "/3/device/0a",
        status: Int = 200, fault: String? = nil
    ) -> [UInt8] {
        let object: [String: Any] = [
            "event": "request", "path": path, "payload": payload, "status": status, "fault": fault ?? NSNull(),
            "outcome": "sent",
            "headers": ["apns-id": "push-\(message)", "apns-collapse-id": collapseID ?? "collapse-\(message)"],
        ]
        return Array((try? JSONSerialization.data(withJSONObject: object)) ?? Data())
    }

    private func requests(_ lines: [UInt8]...) -> RequestLog {
        var requests = RequestLog()
        for line in lines { requests.add(line: line) }
        return requests
    }

    @Test("the verdict counts pushes that were sent again, and those accepted twice after the first answer was lost")
    func again() {
        let requests = requests(
            request(0), request(0), request(1, fault: "reset"), request(1), request(2, fault: "lost-response"),
            request(2), request(3, status: 503), request(3))
        #expect(requests.faults.count == 0)
        #expect(requests.requestCount == 8)
        #expect(requests.sentAgainCount == 4)
        #expect(requests.answeredTwiceCount == 1)
        #expect(requests.resetCount == 1)
        #expect(requests.lostCount == 1)
    }

    @Test("the verdict reports a retry with another byte or collapse ID, and an extra push") func changed() {
        #expect(requests(request(0), request(0, collapseID: "other")).faults.count == 1)
        #expect(requests(request(0), request(0, payload: "sealed anew")).faults.count == 1)
        #expect(requests(request(0), request(0, path: "/3/device/0b")).faults.count == 1)
        let all = shown(line(0), line(1), line(2), line(3))
        var good = requests(request(0), request(1), request(2), request(3))
        good.compare(with: all, messageCount: 4)
        #expect(good.faults.count == 0)
        var tooMany = requests(request(0), request(1), request(2), request(3), request(4))
        tooMany.compare(with: all, messageCount: 4)
        #expect(tooMany.faults.sentences == ["5 pushes for 4 messages"])
        var unknown = requests(request(0), request(1), request(2), request(3, collapseID: "other"))
        unknown.compare(with: all, messageCount: 4)
        #expect(unknown.faults.sentences == ["message 3 was shown under identifiers that were never sent"])
    }

    @Test("the verdict detects memory growth after the first tenth") func memory() {
        var track = MemoryTrack()
        for step in 0...100 {
            let byteCount = 40_000_000 + 1_000_000 * step
            track.add(own: byteCount, highest: byteCount, progress: Double(step) / 100)
        }
        #expect(track.earlyPeak == 50_000_000)
        #expect(track.growth == 90_000_000)
    }
}
