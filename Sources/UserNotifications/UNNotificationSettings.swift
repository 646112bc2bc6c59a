public import Foundation

/// What the person and the system allow the app (Apple, UNNotificationSettings).
public final class UNNotificationSettings: NSObject, NSCopying {
    // NSSecureCoding is left out: nothing archives settings.

    /// Whether the app may show notifications.
    public let authorizationStatus: UNAuthorizationStatus
    public let soundSetting: UNNotificationSetting
    public let badgeSetting: UNNotificationSetting
    public let alertSetting: UNNotificationSetting
    public let notificationCenterSetting: UNNotificationSetting
    public let lockScreenSetting: UNNotificationSetting
    public let carPlaySetting: UNNotificationSetting
    public let alertStyle: UNAlertStyle
    public let showPreviewsSetting: UNShowPreviewsSetting
    public let criticalAlertSetting: UNNotificationSetting
    public let providesAppNotificationSettings: Bool
    public let announcementSetting: UNNotificationSetting
    public let timeSensitiveSetting: UNNotificationSetting
    public let scheduledDeliverySetting: UNNotificationSetting
    public let directMessagesSetting: UNNotificationSetting

    /// Makes the settings of an app that was given `status` for `options`.
    ///
    /// A switch nobody asked for is `.notSupported`; one that was asked for is `.enabled`, or `.disabled` when
    /// `status` is `.denied` or `.notDetermined`.
    package init(
        _ status: UNAuthorizationStatus, for options: UNAuthorizationOptions = [],
        showPreviews: UNShowPreviewsSetting = .always
    ) {
        let isAllowed = status != .denied && status != .notDetermined
        func setting(_ option: UNAuthorizationOptions) -> UNNotificationSetting {
            guard options.contains(option) else { return .notSupported }
            return isAllowed ? .enabled : .disabled
        }
        authorizationStatus = status
        soundSetting = setting(.sound)
        badgeSetting = setting(.badge)
        alertSetting = setting(.alert)
        notificationCenterSetting = setting(.alert)
        lockScreenSetting = setting(.alert)
        carPlaySetting = setting(.carPlay)
        alertStyle = setting(.alert) == .enabled ? .banner : .none
        showPreviewsSetting = showPreviews
        criticalAlertSetting = setting(.criticalAlert)
        providesAppNotificationSettings = options.contains(.providesAppNotificationSettings)
        announcementSetting = setting(.announcement)
        timeSensitiveSetting = setting(.timeSensitive)
        scheduledDeliverySetting = .notSupported
        directMessagesSetting = .notSupported
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}
