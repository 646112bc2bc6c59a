package import Foundation
package import SealedPush
package import UserNotifications

/// What a device gives to an extension. The system's own, unless the simulator puts in another.
package struct DeviceEnvironment: Sendable {
    /// Nil where there is none.
    let keychain: @Sendable (_ accessGroup: String) -> (any SecretItems)?
    let appGroup: @Sendable (_ identifier: String) -> URL?
    /// Where files are made that are not finished.
    let scratchRoot: URL
    let fetcher: any Fetching
    /// What notifications that are worked on at once share.
    let budget: WorkBudget
    let now: @Sendable () -> Timestamp
    /// Believed beside the app's own, on a device of a test.
    package var senders: [SenderPublicKey] = []
    /// Stands for every container, on a device of a test.
    package var onlyContainer: URL?
    /// The list of the app's notifications.
    package var center: @Sendable () -> UNUserNotificationCenter = { .current() }
    /// Asks the system to let the process run until the block has returned; calls it once more, with true, if it won't.
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

    /// Nil where the system knows no such app group.
    func root(_ container: SharedContainer) -> URL? {
        if let onlyContainer { return onlyContainer }
        return switch container {
        case .appGroup(let identifier): appGroup(identifier)
        case .folder(let folder): folder
        }
    }

    /// The service module's own folder, likewise.
    func folder(_ container: SharedContainer) -> URL? {
        root(container)?.appending(path: SharedContainer.subfolderName, directoryHint: .isDirectory)
    }

    #if canImport(Security)
        /// The keychain and the app groups of this device.
        static let system = DeviceEnvironment(
            keychain: { KeychainItems(accessGroup: $0) },
            appGroup: { FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: $0) })
    #else
        /// Without Apple's system there is neither keychain nor app group: the simulator brings both.
        static let system = DeviceEnvironment(keychain: { _ in nil }, appGroup: { _ in nil })
    #endif
}
