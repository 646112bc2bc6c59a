internal import Foundation
internal import TestSupport

/// What one run from end to end is made of: how much is sent, what goes wrong, and how patient the sender is.
package struct RunPlan: Codable, Sendable {
    package var messageCount: Int
    package var deviceCount: Int
    /// How often the sender is killed.
    package var killCount: Int
    /// How often, over the whole run, an app makes a new key on its phone or confirms one. Besides, a third of the
    /// phones revoke their first key before anything is sent, a third rotate, and a third revoke all their keys
    /// halfway.
    package var keyChangeCount: Int
    /// Of the kills, the changes of keys and the local APNs' faults.
    package var seed: UInt64
    package var faults = Faults()
    package var patience = Patience()
    /// What every message says besides its number.
    package var marker = Marker()
    /// By how many bytes sender and server may grow after the first tenth; nil where the run is too short to say, or
    /// where a sanitizer keeps what was freed.
    package var growthLimit: Int?
    /// How many pushes may be accepted again although APNs had said that it has them: those whose answer died with a
    /// sender, and a few that came too late. Nil where so little time is given that a busy machine misses it often.
    package var acceptedAgainLimit: Int?

    package init(messageCount: Int, deviceCount: Int, killCount: Int, seed: UInt64) {
        precondition(messageCount > 0 && deviceCount > 0 && killCount >= 0, "a run has messages and devices")
        self.messageCount = messageCount
        self.deviceCount = deviceCount
        self.killCount = killCount
        keyChangeCount = 3 * deviceCount
        self.seed = seed
    }

    /// Chances from 0 to 1, of each request.
    package struct Faults: Codable, Sendable {
        package var resets = 0.05
        package var lostResponses = 0.05
        package var unavailable = 0.02
        package var tooManyRequests = 0.01
        /// Requests on a connection.
        package var goAwayEvery = 3_000

        package var arguments: [String] {
            [
                "--faults",
                """
                {"resets":\(resets),"lostResponses":\(lostResponses),"unavailable":\(unavailable),\
                "tooManyRequests":\(tooManyRequests),"goAwayEvery":\(goAwayEvery)}
                """,
            ]
        }
    }

    /// In milliseconds, but for the factor.
    package struct Patience: Codable, Sendable {
        /// For an answer.
        package var request = 2_000
        package var lease = 4_000
        /// Apple's 15 minutes after a 503 become 90 ms.
        package var delayFactor = 1e-4
        package var inFlightCount = 256
        package var enqueuerCount = 16
    }

    /// Words with spaces, umlauts and a picture, so that each way of writing them down differs from the others.
    package struct Marker: Codable, Sendable {
        package var title = "Quittenkorb für Nina 🍐"
        package var body = "Zwölf süße Äpfel im Keller"
        package var data = "Schlüssel-beim-Nachbarn"
        package var key = "Anfrage-der-Obstbäuerin"

        package var all: [String] { [title, body, data, key] }
    }

    /// Counted from 0.
    package func device(of message: Int) -> Int { message % deviceCount }

    package func body(of message: Int) -> String { "\(marker.body), No. \(message)" }

    /// Whether this phone revokes its keys while messages flow: after the first half of its own, of which the last may
    /// be sent to it again.
    package func revokesHalfway(_ device: Int) -> Bool { device % 3 == 0 }

    package var revokingCount: Int { (0..<deviceCount).count { revokesHalfway($0) } }

    /// Whether a message is sealed only after that.
    package func isHeld(_ message: Int) -> Bool { message >= messageCount / 2 && revokesHalfway(device(of: message)) }

    /// A phone's messages of the first half.
    package func firstHalf(of device: Int) -> StrideTo<Int> {
        stride(from: device, to: messageCount / 2, by: deviceCount)
    }

    /// Nil where it is no message's.
    package func message(saying body: String) -> Int? {
        guard body.hasPrefix("\(marker.body), No. "), let last = body.split(separator: " ").last,
            let number = Int(last), (0..<messageCount).contains(number), self.body(of: number) == body
        else { return nil }
        return number
    }

    /// As `device-simulator run --count` calls them.
    package static func deviceName(_ number: Int) -> String { "phone-\(number + 1)" }
}

/// When and how the sender is killed.
struct KillPlan: Sendable {
    /// Once the local APNs has seen so many pushes.
    let pushCount: Int
    let kind: Kind

    enum Kind: Sendable {
        /// From outside.
        case anyMoment
        /// By its own hand, when APNs has answered and before that is noted in the outbox.
        case afterAnswer
    }

    /// Both kinds by turns, at random moments of the first three fifths: the last sender is left enough to do to show
    /// that its memory does not grow.
    static func make(_ plan: RunPlan, _ random: inout SeededGenerator) -> [KillPlan] {
        let last = max(1, plan.messageCount * 3 / 5)
        let counts = (0..<plan.killCount).map { _ in Int.random(in: min(last, 20)...last, using: &random) }.sorted()
        return counts.enumerated().map { index, count in
            KillPlan(pushCount: count, kind: index.isMultiple(of: 2) ? .afterAnswer : .anyMoment)
        }
    }
}
