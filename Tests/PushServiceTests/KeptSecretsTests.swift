import PushSender
import TestSupport
import Testing

@testable import PushService
@testable import SealedPush

/// How far back a thief of the phone's keys can read, which is `keeps` in Specification 11.1.1.
@Suite("A phone that keeps retired secrets for three days and rotates daily") struct KeptSecretsTests {
    private static let day: Int64 = 86_400
    private static let hour: Int64 = 3_600

    /// The longest window of a simulation, in hours, and the outcome of its messages.
    private struct Outcome {
        var windows: [Int64] = []
        var shownCount = 0
        var lostCount = 0
    }

    /// Simulates 60 days with a message each hour. Apple holds a message for up to three days while the phone is off.
    private func simulate(keeping keeps: Int, offFor days: Int64) throws -> Outcome {
        let phone = try Phone().making(.classical, keeping: keeps)
        let start = Phone.start
        try phone.ledger.begin(floor: start.advanced(bySeconds: -60), asksForNewKey: false)
        var server = try EnrolledDevice(pinning: try phone.device.enroll(at: start), topic: Phone.topic, at: start)
        #expect(server.record.keeps == keeps)
        let sealer = Sealer(sender: phone.sender, topic: Phone.topic, safeDefault: "You have a new message!")
        var outcome = Outcome()
        var firstSealed: [DevicePublicKey: Timestamp] = [:]
        var waiting: [(envelope: Envelope, sent: Timestamp)] = []
        let off = 30 * Self.day..<(30 + days) * Self.day
        for seconds in stride(from: 0, to: 60 * Self.day, by: Int(Self.hour)) {
            let now = start.advanced(bySeconds: seconds)
            // The app runs once a day, unless the phone is off.
            if seconds % Self.day == 0, !off.contains(seconds) {
                let record = try phone.device.maintain(rotatingOlderThan: .seconds(Self.day), at: now).record
                try server.accept(record, at: now)
                for recipient in server.unproven {
                    let challenge = PendingChallenge(
                        to: recipient, of: server.enrollment, topic: Phone.topic, from: phone.sender, at: now)
                    let answer = try phone.device.answer(challenge: challenge.text, at: now)
                    try server.prove(challenge, answer: answer, at: now)
                }
            }
            var content = Content(body: "b")
            content.sent = now
            let recipient = try server.recipient(at: now)
            waiting.append((try sealer.seal(content, to: recipient).envelope, now))
            if firstSealed[recipient.recipient] == nil { firstSealed[recipient.recipient] = now }
            waiting.removeAll { now.seconds(since: $0.sent) > Int64(keeps) * Self.day }
            if !off.contains(seconds) {
                for message in waiting {
                    do {
                        let opened = try phone.open(message.envelope, at: now)
                        phone.markers.mark(opened.recipient, at: now)
                        outcome.shownCount += 1
                    } catch { outcome.lostCount += 1 }
                }
                waiting = []
            }
            let oldest = try phone.stored.keys.compactMap { firstSealed[$0.recipient] }.min()
            outcome.windows.append(oldest.map { now.seconds(since: $0) / Self.hour } ?? 0)
        }
        return outcome
    }

    @Test("The window is five days, and no message is lost") func always() throws {
        let outcome = try simulate(keeping: 3, offFor: 0)
        #expect(outcome.lostCount == 0 && outcome.shownCount == 60 * 24)
        #expect(outcome.windows.max()! <= 5 * 24, "\(outcome.windows.max()!) hours")
        // It isn't shorter, either, or the simulation would prove nothing.
        #expect(outcome.windows.suffix(24).max()! > 4 * 24)
    }

    @Test("After two or ten days off, no message that Apple still holds is lost; the window grows by that time")
    func off() throws {
        let short = try simulate(keeping: 3, offFor: 2)
        #expect(short.lostCount == 0 && short.shownCount == 60 * 24)
        #expect(short.windows.max()! <= 7 * 24)
        let long = try simulate(keeping: 3, offFor: 10)
        // Apple has dropped messages that waited for more than three days.
        #expect(long.lostCount == 0 && (53 * 24 - 2...53 * 24 + 2).contains(long.shownCount), "\(long.shownCount)")
        #expect(long.windows.max()! <= 15 * 24 && long.windows.suffix(24).max()! <= 5 * 24)
    }

    @Test("The window is 32 days if retired secrets are kept as long as Apple holds a push") func usual() throws {
        let outcome = try simulate(keeping: 30, offFor: 0)
        #expect(outcome.lostCount == 0)
        #expect((31 * 24...32 * 24).contains(outcome.windows.max()!), "\(outcome.windows.max()!) hours")
    }
}
