import Foundation

/// The visible and audible result of one push, and the reason for it.
package struct DeliveredPush: Sendable {
    package let outcome: Outcome
    package let shown: ShownNotification?
    /// The new number on the app's icon, 0 to remove it; nil if it doesn't change.
    package let badge: Int?
    package let ring: Ring?
    package let lightsScreen: Bool
    /// The reason code if the safe default is shown.
    package let reason: String?
    /// An explanation if the outcome wasn't the extension's decision.
    package let note: String?
    /// Other mistakes by the extension, such as an invalid attachment or calling its handler twice.
    package var remarks: [String] = []
    /// Whether it replaced a notification with the same identifier.
    package var isReplacement = false
    /// The identifiers of notifications that were removed.
    package var removed: [String] = []
    /// The expanded notification; nil if it wasn't expanded.
    package var expansion: ShownExpansion?
    /// The time since the extension's start; nil if it wasn't started.
    package var elapsed: Duration?
    /// The extension's own peak memory, in bytes; nil if it wasn't started.
    package var peakMemoryByteCount: Int?

    package enum Outcome: String, Codable, Sendable {
        /// The sealed content.
        case opened
        case safeDefault = "safe-default"
        /// The push's own plaintext alert.
        case original
        /// An extension's content that doesn't claim to be sealed.
        case modified
        case notShown = "not-shown"
    }

    package struct Ring: Equatable, Sendable {
        /// A file's name, or `default`.
        package let sound: String
        /// Whether it's audible even on a muted device.
        package let isCritical: Bool
    }

    init(outcome: Outcome, shown: ShownNotification, reason: String? = nil, note: String? = nil) {
        self.outcome = outcome
        self.shown = shown
        self.reason = reason
        self.note = note
        badge = shown.badge
        // Apple, `UNNotificationInterruptionLevel.passive`: the screen stays dark and there is no sound.
        lightsScreen = shown.interruptionLevel != "passive"
        ring = lightsScreen ? shown.ring : nil
    }

    /// Creates a result in which nothing is shown. A silent push may still set a badge or play a sound.
    package init(notShownBecause note: String, silent: ShownNotification? = nil) {
        outcome = .notShown
        shown = nil
        reason = nil
        self.note = note
        badge = silent?.badge
        ring = silent?.ring
        lightsScreen = false
        removed = silent?.removed ?? []
    }

    /// Creates a result from the extension's content after its attachments have been checked and taken.
    init(showing content: ShownNotification, remarks: [String]) {
        let members = content.sealedPush
        switch members?["outcome"] as? String {
        case "opened": self.init(outcome: .opened, shown: content)
        case "safe-default": self.init(outcome: .safeDefault, shown: content, reason: members?["reason"] as? String)
        default: self.init(outcome: .modified, shown: content)
        }
        self.remarks = remarks
        removed = content.removed ?? []
    }
}

extension DeliveredPush {
    /// Returns the object that `--json` prints. Absent values are null.
    package func jsonObject(file: String, identifier: String) -> [String: Any] {
        let milliseconds = elapsed.map { Int($0 / .milliseconds(1)) }
        var object: [String: Any] = [
            "file": file, "identifier": identifier, "outcome": outcome.rawValue, "reason": reason ?? NSNull(),
            "note": note ?? NSNull(), "remarks": remarks, "removed": removed, "replaced": isReplacement,
            "badge": badge ?? NSNull(), "rings": ring?.sound ?? NSNull(), "ringsCritically": ring?.isCritical ?? false,
            "lightsScreen": lightsScreen, "elapsedMilliseconds": milliseconds ?? NSNull(),
            "peakMemoryBytes": peakMemoryByteCount ?? NSNull(),
        ]
        object.merge(ShownNotification.jsonObject(of: shown)) { own, _ in own }
        object["expanded"] = expansion?.jsonObject
        return object
    }
}

extension ShownNotification {
    fileprivate var ring: DeliveredPush.Ring? {
        sound.map { DeliveredPush.Ring(sound: $0, isCritical: isSoundCritical) }
    }
}
