package import Foundation
package import PushService
package import SealedPush

/// A simulated phone: one folder with its keychain and the data that its app and extension share.
package struct SimulatedDevice: Codable, Sendable {
    /// The folder that stands for every app group. It contains the keychain, whose files contain secrets in the clear.
    package var container: URL
    /// Whether the phone hasn't been unlocked since it started, so that the keychain can't be read.
    package var isLocked: Bool

    package init(container: URL, isLocked: Bool = false) {
        self.container = container
        self.isLocked = isLocked
    }

    /// The extension's temporary folder, whose files are kept.
    package var temporaryFolder: URL { container.absoluteURL.appending(path: "tmp", directoryHint: .isDirectory) }

    var processEnvironment: [String: String] {
        // glibc keeps a pool for each thread, several megabytes in all. Apple's allocator doesn't, so this memory must
        // not count against the extension.
        ["TMPDIR": temporaryFolder.path(percentEncoded: false), "MALLOC_ARENA_MAX": "1"]
    }
}

extension SimulatedDevice {
    package var keychain: FileSecretItems {
        FileSecretItems(in: container.appending(path: "keychain", directoryHint: .isDirectory), isLocked: isLocked)
    }

    /// Returns the environment of the app and its extension on this phone.
    func environment(budget: WorkBudget = .shared, fetcher: any Fetching = CurlFetching()) -> DeviceEnvironment {
        DeviceEnvironment(
            keychain: { _ in keychain }, appGroup: { _ in container }, scratchRoot: container.appending(path: "tmp"),
            fetcher: fetcher, budget: budget)
    }

    /// Returns the object that the app on this phone uses to enroll, answer, rotate, and revoke, as a real app uses
    /// `ServiceConfiguration.device`. Returns nil if the configuration isn't valid.
    package func app(_ standard: StandardConfiguration, fetcher: any Fetching = CurlFetching()) -> OwnDevice? {
        standard.configuration(container: container).map { OwnDevice($0, environment: environment(fetcher: fetcher)) }
    }

    /// Adds an account with a name, as the app does, unless it's there already. The extension finds it by itself. Returns the
    /// object that enrolls the account, or nil if the configuration isn't valid.
    package func add(
        _ account: PushAccount, to standard: StandardConfiguration, fetcher: any Fetching = CurlFetching()
    ) throws(DeviceError) -> OwnDevice? {
        guard var app = standard.configuration(container: container) else { return nil }
        app.environment = environment(fetcher: fetcher)
        return OwnDevice(try app.accounts.addNow(account), environment: app.environment)
    }

    package var rotation: KeyRotation<DevicePublicKey> {
        get throws(SecretItemError) {
            KeyRotation(StoredItems(try keychain.list()).keys.map { ($0.recipient, $0.life) })
        }
    }

    /// Whether an authenticated message has been opened with this key, so that the app may confirm it.
    package func hasOpened(under recipient: DevicePublicKey) -> Bool {
        let root = container.appending(path: SharedContainer.subfolderName)
        return ConfirmationMarkers(in: root).time(of: recipient, at: .now()) != nil
    }

    /// Returns the app's own device if only its keys matter. It trusts these authorities and no sender key, and its new keys
    /// are of the newest key's kind.
    package func app(for topic: Topic, pinning authorities: [AuthorityPublicKey] = []) -> OwnDevice? {
        var standard = StandardConfiguration(
            topic: topic.description, senders: [], authorities: authorities.map(\.description),
            safeDefault: "never shown", allowsAnonymous: false)
        standard.isHybrid = (try? rotation.members.first?.key.isHybrid) ?? false
        return app(standard)
    }

    /// Accepts a sender set as the app did while the set was valid. The extension checks whether its authority is pinned.
    package func take(_ set: SenderSet) throws(DeviceError) {
        do throws(DeviceError) {
            _ = try app(for: set.topic, pinning: [set.authority])?.accept(
                senderSet: set.description, at: min(.now(), set.expires))
        } catch {
            // The phone has a newer set.
            guard case .record = error else { throw error }
        }
    }

    /// Copies keys created elsewhere to the phone's keychain, and keeps the states they had. Leaves the phone's other
    /// keys alone, except for those in `gone`.
    ///
    /// - Parameter enrollment: The key and the newest record that was signed elsewhere; an older one changes nothing.
    package func adopt(
        _ keys: [DeviceKey], destroying gone: [DevicePublicKey],
        enrollment: (key: EnrollmentPrivateKey, record: DeviceRecord)?
    ) throws(SecretItemError) {
        let keychain = keychain
        let stored = StoredItems(try keychain.list())
        for key in keys {
            let known = stored.keys.first { $0.recipient == key.identity.recipient }
            try Self.unlessDone { () throws(SecretItemError) in
                guard let known else { return try keychain.add(StoredKey.item(key.identity, life: key.life)) }
                if known.life != key.life { try keychain.replace(known.item, attributes: key.life.attributes) }
            }
        }
        for key in stored.keys where gone.contains(key.recipient) {
            try Self.unlessDone { () throws(SecretItemError) in try keychain.remove(account: key.item.account) }
        }
        guard let (key, record) = enrollment else { return }
        let attributes = StoredEnrollment.attributes(counter: record.counter, record: record)
        let known = stored.enrollment(for: record.topic)
        guard known?.counter ?? 0 < record.counter else { return }
        let item = StoredEnrollment.item(key, for: record.topic)
        try Self.unlessDone { () throws(SecretItemError) in
            if let known { return try keychain.replace(known.item, attributes: attributes) }
            try keychain.add(SecretItem(account: item.account, attributes: attributes, secret: item.secret))
        }
    }

    /// Runs a step, and ignores its failure if another process has just done the same.
    private static func unlessDone(_ step: () throws(SecretItemError) -> Void) throws(SecretItemError) {
        do throws(SecretItemError) { try step() } catch {
            guard error == .duplicate || error == .notFound else { throw error }
        }
    }
}
