internal import Foundation

/// The notifications shown on the devices, read from the output of `device-simulator run --json`, and their faults.
///
/// A message counts as shown once if exactly one notification with its text appeared on a screen: the first with its
/// identifier. Later ones with that identifier replace it. Anything but a message's own text is a fault, above all the
/// safe default.
package struct ShownMessages: Sendable {
    private let plan: RunPlan
    package private(set) var tokens: [String: String] = [:]
    /// The number of notifications, including replacements.
    package private(set) var lineCount = 0
    package private(set) var replacementCount = 0
    /// The number of messages that were shown, and arrived again after their phone had revoked the key they are sealed to.
    package private(set) var repeatedUnderRevokedCount = 0
    package private(set) var faults = FaultList()
    private var notifications: [Notification?]
    /// The message on the screen, by device and identifier.
    private var screens: [Place: Int] = [:]
    package private(set) var count = 0
    /// Whether the devices were told to exit.
    package var mayGoOffline = false

    private struct Place: Hashable {
        let device: String
        let identifier: String
    }

    package struct Notification: Hashable, Sendable {
        package let identifier: String
        package let apnsID: String
    }

    package init(_ plan: RunPlan) {
        self.plan = plan
        notifications = Array(repeating: nil, count: plan.messageCount)
    }

    /// Returns a message's notification; nil if it wasn't shown.
    package func notification(of message: Int) -> Notification? { notifications[message] }

    /// The phones that revoke their keys halfway, and that have shown everything before that.
    package var haveShownFirstHalf: Set<Int> {
        Set(
            (0..<plan.deviceCount).filter { device in
                plan.revokesHalfway(device) && plan.firstHalf(of: device).allSatisfy { notifications[$0] != nil }
            })
    }

    package var missing: [Int] { notifications.indices.filter { notifications[$0] == nil } }

    package mutating func add(line: some Collection<UInt8>) {
        guard let object = (try? JSONSerialization.jsonObject(with: Data(line))) as? [String: Any],
            let event = object["event"] as? String
        else { return faults.add("a device printed a line that isn't an event") }
        switch event {
        case "online": if let device = object["device"] as? String { tokens[device] = object["token"] as? String }
        case "notification": addNotification(object)
        case "offline" where mayGoOffline: break
        default: faults.add("a device reported the unexpected event \(event)")
        }
    }

    private mutating func addNotification(_ object: [String: Any]) {
        lineCount += 1
        guard let device = object["device"] as? String, let identifier = object["identifier"] as? String,
            let apnsID = object["apnsID"] as? String, let isReplacement = object["replaced"] as? Bool
        else { return faults.add("a notification lacks its identifiers") }
        let outcome = object["outcome"] as? String ?? "nothing"
        if object["reason"] as? String == "unknown-recipient", isReplacement,
            let message = screens[Place(device: device, identifier: identifier)],
            plan.revokesHalfway(plan.device(of: message)), !plan.isHeld(message)
        {
            repeatedUnderRevokedCount += 1
            return
        }
        guard outcome == "opened", let body = object["body"] as? String, let message = plan.message(saying: body),
            object["title"] as? String == plan.marker.title
        else {
            return faults.add("\(device) showed no message: \(outcome), \(object["reason"] as? String ?? "no reason")")
        }
        guard device == RunPlan.deviceName(plan.device(of: message)) else {
            return faults.add("message \(message) was shown on \(device)")
        }
        add(message, Notification(identifier: identifier, apnsID: apnsID), on: device, isReplacement)
    }

    private mutating func add(_ message: Int, _ notification: Notification, on device: String, _ isReplacement: Bool) {
        let place = Place(device: device, identifier: notification.identifier)
        if let earlier = screens.updateValue(message, forKey: place), earlier != message {
            faults.add("message \(message) replaced message \(earlier)")
        }
        if let earlier = notifications[message] {
            if earlier != notification { faults.add("message \(message) was shown under two identifiers") }
            if !isReplacement { faults.add("message \(message) was shown twice") }
            replacementCount += 1
        } else {
            if isReplacement { faults.add("message \(message) replaced a notification that was never shown") }
            notifications[message] = notification
            count += 1
        }
    }
}

/// A list of faults as sentences. All are counted, but only the first few are kept.
package struct FaultList: Sendable {
    package private(set) var count = 0
    package private(set) var sentences: [String] = []

    package init() {}

    package mutating func add(_ sentence: String) {
        count += 1
        if sentences.count < Self.keptCount { sentences.append(sentence) }
    }

    package mutating func add(_ other: FaultList) {
        for sentence in other.sentences { add(sentence) }
        count += other.count - other.sentences.count
    }

    private static let keptCount = 20
}
