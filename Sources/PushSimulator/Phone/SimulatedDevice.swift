package import Foundation
package import PushService
package import SealedPush

/// A phone: its keychain and what its app and extension share, in one folder.
package struct SimulatedDevice: Codable, Sendable {
    /// Stands for every app group. In it lies the keychain, whose files hold secrets in the clear.
    package var container: URL
    /// Not unlocked since it started: the keychain can't be read.
    package var isLocked: Bool

    package init(container: URL, isLocked: Bool = false) {
        self.container = container
        self.isLocked = isLocked
    }

    /// The extension's own temporary folder: what it leaves there is found there.
    package var temporaryFolder: URL { container.absoluteURL.appending(path: "tmp", directoryHint: .isDirectory) }

    /// What an extension's process finds in its environment, besides the simulator's own.
    var processEnvironment: [String: String] {
        // glibc keeps a pool for each thread, some megabytes in all: Apple's allocator does not, and it is not the
        // extension's doing.
        ["TMPDIR": temporaryFolder.path(percentEncoded: false), "MALLOC_ARENA_MAX": "1"]
    }
}

extension SimulatedDevice {
    package var keychain: FileSecretItems {
        FileSecretItems(in: container.appending(path: "keychain", directoryHint: .isDirectory), isLocked: isLocked)
    }

    /// What app and extension find on this phone.
    func environment(budget: WorkBudget = .shared) -> DeviceEnvironment {
        let (keychain, container) = (keychain, container)
        return DeviceEnvironment(
            keychain: { _ in keychain }, appGroup: { _ in container }, scratchRoot: container.appending(path: "tmp"),
            fetcher: CurlFetching(), budget: budget)
    }

    /// What the app on this phone calls, to enrol, answer, rotate and revoke, as an app on a phone calls
    /// `ServiceConfiguration.device`. Nil where the configuration is not usable.
    package func app(_ standard: StandardConfiguration) -> OwnDevice? {
        standard.configuration(container: container).map { OwnDevice($0, environment: environment()) }
    }

    /// The lives of the phone's keys.
    package var rotation: KeyRotation<Recipient> {
        get throws(SecretItemError) {
            KeyRotation(StoredItems(try keychain.list()).keys.map { ($0.recipient, $0.life) })
        }
    }

    /// Whether an authenticated message has opened under this key, so that the app may confirm it.
    package func hasOpened(under recipient: Recipient) -> Bool {
        let root = container.appending(path: SharedContainer.subfolderName)
        return ConfirmationMarkers(in: root).time(of: recipient, at: .now()) != nil
    }

    /// Puts keys into the phone's keychain that were made elsewhere, or takes over what was done with them there. Where a
    /// key is known at both ends, the life that is further on counts; the phone's other keys are left alone.
    ///
    /// - Parameters:
    ///   - gone: keys that were revoked or erased there: they are destroyed here.
    ///   - enrolment: with the newest record that was signed elsewhere.
    package func adopt(
        _ keys: [DeviceKey], destroying gone: [Recipient], enrolment: (key: EnrolmentKey, record: DeviceRecord)?
    ) throws(SecretItemError) {
        // Another process that does the same is as good: then there is less to do.
        for _ in 1..<Self.attemptCount {
            do throws(SecretItemError) { return try adoptOnce(keys, gone, enrolment) } catch {
                guard error == .duplicate || error == .notFound else { throw error }
            }
        }
        try adoptOnce(keys, gone, enrolment)
    }

    private static let attemptCount = 16

    private func adoptOnce(
        _ keys: [DeviceKey], _ gone: [Recipient], _ enrolment: (key: EnrolmentKey, record: DeviceRecord)?
    ) throws(SecretItemError) {
        let keychain = keychain
        let stored = StoredItems(try keychain.list())
        for key in keys {
            guard let known = stored.keys.first(where: { $0.recipient == key.identity.recipient }) else {
                // One that is erased here, as its time had come, stays so.
                let isOver = key.life.erasureDue.map { $0 <= .now() } ?? false
                if !isOver { try keychain.add(StoredKey.item(key.identity, life: key.life)) }
                continue
            }
            var life = known.life
            if let moment = key.life.confirmed { life.confirm(at: moment) }
            if let moment = key.life.retired { life.retire(at: moment) }
            if life != known.life { try keychain.replace(known.item, attributes: life.attributes) }
        }
        for key in stored.keys where gone.contains(key.recipient) { try keychain.remove(account: key.item.account) }
        if let (key, record) = enrolment { try adopt(key, record, stored, keychain) }
    }

    private func adopt(
        _ key: EnrolmentKey, _ record: DeviceRecord, _ stored: StoredItems, _ keychain: FileSecretItems
    ) throws(SecretItemError) {
        let attributes = StoredEnrolment.attributes(counter: record.counter, record: record)
        guard let known = stored.enrolment(for: record.topic) else {
            let item = StoredEnrolment.item(key, for: record.topic)
            return try keychain.add(SecretItem(account: item.account, attributes: attributes, secret: item.secret))
        }
        guard try known.key(in: keychain)?.enrolment == key.enrolment, known.counter ?? 0 < record.counter else {
            return
        }
        try keychain.replace(known.item, attributes: attributes)
    }
}
