package import Foundation
package import SealedPush
package import UserNotifications

/// The services that a device provides to an extension: the system's own, or the simulator's.
package struct DeviceEnvironment: Sendable {
    /// Nil if there is no keychain.
    let keychain: @Sendable (_ accessGroup: String) -> (any SecretItems)?
    let appGroup: @Sendable (_ identifier: String) -> URL?
    /// The folder for unfinished files.
    let scratchRoot: URL
    let fetcher: any Fetching
    /// The limits shared by notifications that are processed at the same time.
    let budget: WorkBudget
    let now: @Sendable () -> Timestamp
    /// The senders trusted in addition to the app's own, on a test device.
    package var senders: [SenderPublicKey] = []
    /// The folder that replaces every container, on a test device.
    package var onlyContainer: URL?
    package var center: @Sendable () -> UNUserNotificationCenter = { .current() }
    /// The list that replaces the center's, on a test device: tests that Xcode runs without an app have no center.
    package var ownList: (any NotificationList & Sendable)?
    package var notifications: any NotificationList {
        if let ownList { return ownList }
        return SystemNotificationList(center: center())
    }
    /// Returns what identifies the time since the device started; nil if that isn't known.
    package var bootSession: @Sendable () -> String? = BootSession.current
    /// Asks the system to let the process run until the block returns; if it no longer can, calls the block again with true.
    package var activity: @Sendable (@escaping @Sendable (_ isExpired: Bool) -> Void) -> Void = { work in
        #if os(iOS) || os(visionOS)
        ProcessInfo.processInfo.performExpiringActivity(withReason: "sealed-push", using: work)
        #endif
    }

    package init(
        keychain: @escaping @Sendable (_ accessGroup: String) -> (any SecretItems)?,
        appGroup: @escaping @Sendable (_ identifier: String) -> URL?,
        scratchRoot: URL = .temporaryDirectory, fetcher: any Fetching = SessionFetching(), budget: WorkBudget = .shared,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.keychain = keychain
        self.appGroup = appGroup
        self.scratchRoot = scratchRoot
        self.fetcher = fetcher
        self.budget = budget
        self.now = now
    }

    /// Returns a container's folder; nil if the system doesn't know the app group.
    func root(_ container: SharedContainer) -> URL? {
        if let onlyContainer { return onlyContainer }
        return switch container {
        case .appGroup(let identifier): appGroup(identifier)
        case .folder(let folder): folder
        case .account(_, let container): root(container)
        }
    }

    /// Returns the service module's folder in a container, or an account's folder in that folder; nil if the system doesn't
    /// know the app group.
    func folder(_ container: SharedContainer) -> URL? {
        let folder = root(container)?.appending(path: SharedContainer.subfolderName, directoryHint: .isDirectory)
        guard let account = container.account else { return folder }
        return folder?.appending(path: "\(DeviceAccounts.folderName)/\(account)", directoryHint: .isDirectory)
    }

    #if canImport(Security)
    /// The keychain and the app groups of this device.
    static let system = DeviceEnvironment(
        keychain: { KeychainItems(accessGroup: $0) },
        appGroup: { FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: $0) })
    #else
    /// Other systems have neither a keychain nor app groups; the simulator supplies both.
    static let system = DeviceEnvironment(keychain: { _ in nil }, appGroup: { _ in nil })
    #endif
}
