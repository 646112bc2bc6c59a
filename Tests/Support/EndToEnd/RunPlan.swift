internal import Foundation
internal import TestSupport

/// The plan of an end-to-end run: the amount of messages, the failures, and the sender's time limits.
package struct RunPlan: Codable, Sendable {
    package var messageCount: Int
    package var deviceCount: Int
    /// The number of times that the sender is killed.
    package var killCount: Int
    /// The number of times, over the whole run, that an app creates a new key on its phone or confirms one. In addition, a
    /// third of the phones revoke their first key before sending begins, a third rotate it, and a third revoke all their
    /// keys halfway.
    package var keyChangeCount: Int
    /// The seed for the kills, the key changes, and the faults of the local APNs.
    package var seed: UInt64
    package var faults = Faults()
    package var patience = Patience()
    /// The text of every message, apart from its number.
    package var marker = Marker()
    /// The bytes by which sender and server may grow after the first tenth; nil if the run is too short to judge, or if a
    /// sanitizer keeps freed memory.
    package var growthLimit: Int?
    /// The number of pushes that may be accepted again after APNs accepted them: those whose answer died with a sender, and
    /// a few whose answer came too late. Nil if the time limits are so short that a busy machine often misses them.
    package var acceptedAgainLimit: Int?

    package init(messageCount: Int, deviceCount: Int, killCount: Int, seed: UInt64) {
        precondition(messageCount > 0 && deviceCount > 0 && killCount >= 0, "a run needs messages and devices")
        self.messageCount = messageCount
        self.deviceCount = deviceCount
        self.killCount = killCount
        keyChangeCount = 3 * deviceCount
        self.seed = seed
    }

    /// The faults, with chances from 0 to 1 for each request.
    package struct Faults: Codable, Sendable {
        package var resets = 0.05
        package var lostResponses = 0.05
        package var unavailable = 0.02
        package var tooManyRequests = 0.01
        /// The number of requests on a connection after which it gets GOAWAY.
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

    /// The sender's time limits, in milliseconds, and its limits of concurrency.
    package struct Patience: Codable, Sendable {
        /// The time limit for an answer.
        package var request = 2_000
        package var lease = 4_000
        /// The factor for delays. It turns Apple's 15 minutes after a 503 into 90 ms.
        package var delayFactor = 1e-4
        package var inFlightCount = 256
        package var enqueuerCount = 16
    }

    /// Words with spaces, umlauts, and an emoji, so that each way of encoding them gives a different result.
    package struct Marker: Codable, Sendable {
        package var title = "Quittenkorb für Nina 🍐"
        package var body = "Zwölf süße Äpfel im Keller"
        package var data = "Schlüssel-beim-Nachbarn"
        package var key = "Anfrage-der-Obstbäuerin"

        package var all: [String] { [title, body, data, key] }
    }

    /// Returns the number of a message's device, counted from 0.
    package func device(of message: Int) -> Int { message % deviceCount }

    package func body(of message: Int) -> String { "\(marker.body), No. \(message)" }

    /// Whether this phone revokes its keys while messages flow. It does so after the first half of its own messages, the
    /// last of which may be sent to it again.
    package func revokesHalfway(_ device: Int) -> Bool { device % 3 == 0 }

    package var revokingCount: Int { (0..<deviceCount).count { revokesHalfway($0) } }

    /// Whether a message is sealed only after that.
    package func isHeld(_ message: Int) -> Bool { message >= messageCount / 2 && revokesHalfway(device(of: message)) }

    /// Returns a phone's messages in the first half.
    package func firstHalf(of device: Int) -> StrideTo<Int> {
        stride(from: device, to: messageCount / 2, by: deviceCount)
    }

    /// Returns the number of the message with this body, or nil if there is none.
    package func message(saying body: String) -> Int? {
        guard body.hasPrefix("\(marker.body), No. "), let last = body.split(separator: " ").last,
            let number = Int(last), (0..<messageCount).contains(number), self.body(of: number) == body
        else { return nil }
        return number
    }

    /// Returns the name that `device-simulator run --count` gives a device.
    package static func deviceName(_ number: Int) -> String { "phone-\(number + 1)" }
}

/// The time and manner of killing the sender.
struct KillPlan: Sendable {
    /// The number of pushes that the local APNs must have seen.
    let pushCount: Int
    let kind: Kind

    enum Kind: Sendable {
        /// Killed from outside.
        case anyMoment
        /// Kills itself after APNs has answered and before it records that in the outbox.
        case afterAnswer
    }

    /// Alternates between both kinds, at random moments in the first three fifths. That leaves the last sender enough work
    /// to show that its memory doesn't grow.
    static func make(_ plan: RunPlan, _ random: inout SeededGenerator) -> [KillPlan] {
        let last = max(1, plan.messageCount * 3 / 5)
        let counts = (0..<plan.killCount).map { _ in Int.random(in: min(last, 20)...last, using: &random) }.sorted()
        return counts.enumerated().map { index, count in
            KillPlan(pushCount: count, kind: index.isMultiple(of: 2) ? .afterAnswer : .anyMoment)
        }
    }
}
