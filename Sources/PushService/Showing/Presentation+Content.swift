import Foundation
import SealedPush
internal import UserNotifications

extension Presentation {
    /// The notification's content: new and empty, then filled. `original` is used for plain pushes only.
    func content(original: UNNotificationContent) -> UNNotificationContent {
        switch self {
        case .opened(let opened, let isRepeat): Self.content(opened, isRepeat: isRepeat)
        case .safeDefault(let safeDefault, let reason, let envelope):
            Self.content(safeDefault, reason: reason, envelope: envelope)
        case .plain: Self.withoutClaim(original)
        }
    }

    private static func content(_ opened: OpenedContent, isRepeat: Bool) -> UNNotificationContent {
        let sealed = opened.content
        let shown = UNMutableNotificationContent()
        shown.title = sealed.alert.title ?? ""
        shown.subtitle = sealed.alert.subtitle ?? ""
        shown.body = sealed.alert.body ?? ""
        shown.threadIdentifier = sealed.threadID ?? ""
        shown.categoryIdentifier = sealed.category ?? ""
        shown.relevanceScore = sealed.relevanceScore ?? 0
        shown.interruptionLevel = isRepeat ? .passive : (sealed.interruptionLevel ?? .active).system
        if !isRepeat {
            shown.badge = sealed.badge.map { NSNumber(value: $0) }
            shown.sound = sealed.sound?.system
        }
        shown.userInfo = [SealedNotification.key: userInfo(opened)]
        return shown
    }

    private static func content(
        _ safeDefault: SafeDefault, reason: OpenError, envelope: String?
    ) -> UNNotificationContent {
        let shown = UNMutableNotificationContent()
        shown.title = safeDefault.title
        shown.body = safeDefault.body
        shown.sound = safeDefault.playsSound ? .default : nil
        var members: [String: Any] = ["outcome": "safe-default", "reason": reason.rawValue]
        members["envelope"] = envelope
        shown.userInfo = [SealedNotification.key: members]
        return shown
    }

    private static func userInfo(_ opened: OpenedContent) -> [String: Any] {
        var members: [String: Any] = ["outcome": "opened", "id": opened.id.description]
        members["sender"] = opened.sender?.description
        members["data"] = opened.content.data.map(SealedNotification.text)
        if !opened.content.other.isEmpty {
            members["other"] = SealedNotification.text(.object(opened.content.other))
        }
        return members
    }

    /// A plain push can't claim to be sealed.
    private static func withoutClaim(_ original: UNNotificationContent) -> UNNotificationContent {
        guard original.userInfo[SealedNotification.key] != nil,
            let shown = original.mutableCopy() as? UNMutableNotificationContent
        else { return original }
        shown.userInfo[SealedNotification.key] = nil
        return shown
    }
}

extension Content.InterruptionLevel {
    fileprivate var system: UNNotificationInterruptionLevel {
        switch self {
        case .passive: .passive
        case .active: .active
        case .timeSensitive: .timeSensitive
        case .critical: .critical
        }
    }
}

extension Content.Sound {
    fileprivate var system: UNNotificationSound {
        switch self {
        case .named("default"): .default
        case .named(let name): UNNotificationSound(named: UNNotificationSoundName(name))
        case .critical("default", let volume): .defaultCriticalSound(withAudioVolume: Float(volume))
        case .critical(let name, let volume):
            .criticalSoundNamed(UNNotificationSoundName(name), withAudioVolume: Float(volume))
        }
    }
}
