import Foundation

/// What a person gets to see and hear of one push, and why.
package struct DeliveredPush: Sendable {
    package let outcome: Outcome
    package let shown: ShownNotification?
    /// The new number on the app's icon, 0 for none; nil where it stays.
    package let badge: Int?
    package let ring: Ring?
    package let lightsScreen: Bool
    /// The code, where the safe default is shown.
    package let reason: String?
    /// What happened, where it was not the extension that decided.
    package let note: String?
    /// What the extension did wrong besides: an attachment that is not shown, a handler called twice.
    package var remarks: [String] = []
    /// Whether it took the place of one with its identifier.
    package var isReplacement = false
    /// Identifiers of notifications that were removed.
    package var removed: [String] = []
    /// What a person sees who expands it; nil where nobody has.
    package var expansion: ShownExpansion?
    /// From the extension's start; nil where it was not started.
    package var elapsed: Duration?
    /// The extension's own memory at its highest, in bytes; nil where it was not started.
    package var peakMemoryByteCount: Int?

    package enum Outcome: String, Codable, Sendable {
        /// The sealed content.
        case opened
        case safeDefault = "safe-default"
        /// The text of the wire.
        case original
        /// An extension's content that does not claim to be sealed.
        case modified
        case notShown = "not-shown"
    }

    package struct Ring: Equatable, Sendable {
        /// A file's name, or `default`.
        package let sound: String
        /// Heard on a muted device too.
        package let isCritical: Bool
    }

    init(outcome: Outcome, shown: ShownNotification, reason: String? = nil, note: String? = nil) {
        self.outcome = outcome
        self.shown = shown
        self.reason = reason
        self.note = note
        badge = shown.badge
        // Apple, `UNNotificationInterruptionLevel.passive`: no light, no sound.
        lightsScreen = shown.interruptionLevel != "passive"
        ring = lightsScreen ? shown.ring : nil
    }

    /// Nothing is shown; the badge or the sound of a silent push may come without a text all the same.
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

    /// What an extension has returned, once its attachments were looked at and taken.
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
    /// One object for `--json`: absent values are null.
    package func jsonObject(file: String, identifier: String) -> [String: Any] {
        func text(_ value: String?) -> Any { value.flatMap { $0.isEmpty ? nil : $0 } ?? NSNull() }
        let milliseconds = elapsed.map { Int($0 / .milliseconds(1)) }
        var object: [String: Any] = [
            "file": file, "identifier": identifier, "outcome": outcome.rawValue, "reason": reason ?? NSNull(),
            "note": note ?? NSNull(), "remarks": remarks, "removed": removed, "replaced": isReplacement,
            "title": text(shown?.title),
            "subtitle": text(shown?.subtitle), "body": text(shown?.body), "badge": badge ?? NSNull(),
            "sound": text(shown?.sound), "rings": text(ring?.sound), "ringsCritically": ring?.isCritical ?? false,
            "lightsScreen": lightsScreen, "thread": text(shown?.thread), "category": text(shown?.category),
            "interruptionLevel": text(shown?.interruptionLevel), "relevance": shown?.relevanceScore ?? NSNull(),
            "targetContent": text(shown?.targetContent), "attachments": shown?.attachments.map(\.jsonObject) ?? [],
            "data": shown?.data ?? NSNull(), "userInfoKeys": shown?.userInfoObject.keys.sorted() ?? [],
            "elapsedMilliseconds": milliseconds ?? NSNull(), "peakMemoryBytes": peakMemoryByteCount ?? NSNull(),
        ]
        object["avatarBytes"] = shown?.avatar?.count
        object["expanded"] = expansion?.jsonObject
        return object
    }
}

extension ShownNotification {
    fileprivate var ring: DeliveredPush.Ring? {
        sound.map { DeliveredPush.Ring(sound: $0, isCritical: isSoundCritical) }
    }

    var userInfoObject: [String: Any] { (try? JSONSerialization.jsonObject(with: userInfo)) as? [String: Any] ?? [:] }

    fileprivate var sealedPush: [String: Any]? {
        // Specification 6.7: with anything beside it, the claim is the wire's own.
        let userInfo = userInfoObject
        return userInfo.count == 1 ? userInfo["sealed-push"] as? [String: Any] : nil
    }

    /// The service module hands JSON over as text.
    fileprivate var data: Any? {
        guard let text = sealedPush?["data"] as? String else { return nil }
        return try? JSONSerialization.jsonObject(with: Data(text.utf8), options: [.fragmentsAllowed])
    }
}
