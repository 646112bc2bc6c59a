internal import Dispatch
package import Foundation
public import SealedPush
public import UserNotifications

/// The service module's configuration: its app, keys, and trusted senders, and what the user sees if opening fails.
public struct ServiceConfiguration: Sendable {
    /// The app's own bundle ID, not the extension's.
    public let topic: Topic
    /// Where the device's keys are stored.
    public internal(set) var keys: KeySource
    /// The servers' public keys, most likely first, trusted until a sender set signed by one of the authorities is accepted.
    public internal(set) var senders: [SenderPublicKey]
    /// The keys that sign the app's sender sets. A set (``ThisDevice/accept(senderSet:at:)``) replaces the senders without
    /// an app update. Keep the secret halves on an offline machine.
    public internal(set) var authorities: [AuthorityPublicKey]
    /// The notification that the user sees whenever opening fails.
    public internal(set) var safeDefault: SafeDefault
    /// The folder that the app and its extension share.
    public internal(set) var container: SharedContainer
    /// Whether to open sealed boxes, too. Leave it false unless anyone may send to this app.
    public let allowsAnonymous: Bool
    /// Whether a push without the envelope field passes unchanged. Leave it false unless the app also gets pushes that
    /// aren't sealed. Anyone who handles a push can make a plain one, so it proves nothing.
    public let receivesPlainPushes: Bool
    /// The policy for new keys. A device adopts it at its next ``ThisDevice/maintain(rotatingOlderThan:serverKnows:at:)``.
    public let keyPolicy: KeyPolicy
    /// The number of days to keep a retired key's secret, 1 to 31; it's erased a day later. A push that takes longer to
    /// arrive may show the safe default.
    public let keepsRetiredKeys: Int
    /// Whether the app has the entitlement `com.apple.developer.usernotifications.filtering`, so that a stage can suppress a
    /// notification (``NotificationDraft/Muting``). Without the entitlement, leave it false: the system would show the
    /// push's unencrypted text instead.
    public let hasFilteringEntitlement: Bool
    /// The work to do on opened content within the time limit: attachments, charts, receipts, and the app's own stages.
    /// Without stages, the text is shown and nothing is fetched.
    public let stages: [any ServiceStage]
    /// The account with a name that this configuration is for, from ``DeviceAccounts``; nil for the app's own.
    public internal(set) var account: PushAccount?
    /// The app's own safe default, in the configuration of an account with a name.
    var appSafeDefault: SafeDefault?
    /// The device that the app's calls use; replaced in tests.
    package var environment = DeviceEnvironment.system

    /// Creates a configuration; see each property for its meaning.
    public init(
        topic: Topic, keys: KeySource, trusting senders: [SenderPublicKey], authorities: [AuthorityPublicKey] = [],
        safeDefault: SafeDefault, container: SharedContainer, allowsAnonymous: Bool = false,
        receivesPlainPushes: Bool = false, keyPolicy: KeyPolicy = .classical, keepsRetiredKeys: Int = 30,
        hasFilteringEntitlement: Bool = false, stages: [any ServiceStage] = []
    ) {
        precondition(ListForm.keeps.contains(keepsRetiredKeys), "`keepsRetiredKeys` must be from 1 to 31 days")
        self.topic = topic
        self.keys = keys
        self.senders = senders
        self.authorities = authorities
        self.safeDefault = safeDefault
        self.container = container
        self.allowsAnonymous = allowsAnonymous
        self.receivesPlainPushes = receivesPlainPushes
        self.keyPolicy = keyPolicy
        self.keepsRetiredKeys = keepsRetiredKeys
        self.hasFilteringEntitlement = hasFilteringEntitlement
        self.stages = stages
    }
}

extension ServiceConfiguration {
    /// Creates a configuration whose topic, keychain, and container follow from the app and its app group.
    ///
    /// The app and its extension need the App Groups capability, but neither Keychain Sharing nor the team's prefix, because an
    /// app group is a keychain access group, too. On Macs, only some groups are: use the other initializer. See each property for
    /// the other parameters. Source: Apple, "Sharing access to keychain items among a collection of apps".
    ///
    /// A key that isn't valid doesn't stop the program. It's left out, and the system's log says which. Without a valid sender,
    /// and also with an invalid authority, nobody is trusted: each message ends as `unknown-sender`.
    ///
    /// - Parameters:
    ///   - group: The app group, such as `group.com.example`.
    ///   - senders: The servers' public keys as text, most likely first: the output of `sealedpush keys export`.
    ///   - authorities: The authorities' public keys as text.
    ///   - safeDefault: The text of the safe default, translated in the extension's bundle; must be visible.
    public init(
        group: String, trusting senders: [String], authorities: [String] = [], safeDefault: String,
        topic: Topic = .ofThisApp, allowsAnonymous: Bool = false, receivesPlainPushes: Bool = false,
        keyPolicy: KeyPolicy = .classical, keepsRetiredKeys: Int = 30, hasFilteringEntitlement: Bool = false,
        stages: [any ServiceStage] = []
    ) {
        let pinned: [AuthorityPublicKey] = Self.keys(authorities, "authorities")
        // Without its authority, a sender that a set has revoked would be trusted again.
        let isPinned = pinned.count == authorities.count
        self.init(
            topic: topic, keys: .keychain(accessGroup: group),
            trusting: isPinned ? Self.keys(senders, "trusting") : [], authorities: isPinned ? pinned : [],
            safeDefault: SafeDefault(body: safeDefault), container: .appGroup(group), allowsAnonymous: allowsAnonymous,
            receivesPlainPushes: receivesPlainPushes,
            keyPolicy: keyPolicy, keepsRetiredKeys: keepsRetiredKeys,
            hasFilteringEntitlement: hasFilteringEntitlement, stages: stages)
    }

    private static func keys<Role: TrustedRole>(_ texts: [String], _ parameter: String) -> [PublicKey<Role>] {
        texts.enumerated().compactMap { index, text in
            do throws(KeyTextError) { return try PublicKey<Role>(parsing: text) } catch {
                // By its place, since an invalid text may be a secret.
                SystemLog.write(mistake: "key \(index + 1) of `\(parameter)` can't be used: \(error)")
                return nil
            }
        }
    }

    /// The service module's folder; nil if the system doesn't know the app group.
    package var folder: URL? { environment.folder(container) }

    /// One for all accounts.
    var seal: NotificationSeal { NotificationSeal(in: environment.folder(container.whole)) }

    /// Whether a message could open: there is a sender, or an authority that can name one.
    package var trustsAnyone: Bool {
        !PublishedKeys.trusted(senders).isEmpty || !PublishedKeys.trusted(authorities).isEmpty
            || !environment.senders.isEmpty
    }

    var trusted: TrustedSenders { trusted(adding: []) }

    func trusted(adding others: [SenderPublicKey]) -> TrustedSenders {
        TrustedSenders(PublishedKeys.trusted(senders) + others, authorities: PublishedKeys.trusted(authorities))
    }

    /// Opens an envelope outside the extension, off the main actor, and shows nothing. For a notification that doesn't show
    /// its message. For one that arrived before the first unlock, use ``reopened(_:)``.
    ///
    /// Performs all steps of Specification 6, including the ledger, so the message doesn't open again in another push. A
    /// background push's envelope belongs in ``withdraw(envelope:)``: here, it's refused with `malformedContent` and not
    /// recorded. Takes about as long as two disk syncs.
    ///
    /// - Parameters:
    ///   - envelope: The value of ``SealedNotification/envelope``.
    ///   - requestIdentifier: The notification's `request.identifier`.
    @concurrent public func open(envelope: String, requestIdentifier: String) async throws(OpenError) -> OpenedContent {
        try PushOpening(self, environment: environment)
            .open(field: envelope, requestIdentifier: requestIdentifier)
    }

    /// Returns the service module's information about a notification; nil unless this device's extension or app wrote it.
    ///
    /// A carrier can't write it: it has a proof under a key of this device. Whatever else the system adds to user info is
    /// ignored. Source: DeviceState 31.3.
    public func sealed(_ notification: UNNotification) -> SealedNotification? {
        sealed(userInfo: notification.request.content.userInfo)
    }

    package func sealed(userInfo: [AnyHashable: Any]) -> SealedNotification? {
        SealedNotification(userInfo: userInfo, seal)
    }

    /// Opens a notification that arrived before the first unlock after a restart, and runs all stages, as the extension
    /// would have. Call it in the app when it becomes active and in `applicationProtectedDataDidBecomeAvailable`.
    ///
    /// Add the request to the notification center to replace the safe default, without a sound. ``SealedNotification``
    /// reads its user info as usual. Opening and stages run off the main actor; the stages have 25 seconds.
    ///
    /// - Returns: A request that shows the content, or the safe default without the envelope if the message doesn't open, so
    ///   that it isn't tried again. Nil if there is no envelope, the device is still locked, the message was a withdrawal, or
    ///   a stage suppressed it.
    nonisolated(nonsending) public func reopened(_ notification: UNNotification) async -> UNNotificationRequest? {
        await openedAgain(notification.request)
    }

    nonisolated(nonsending) package func openedAgain(_ request: UNNotificationRequest) async -> UNNotificationRequest? {
        guard let locked = sealed(userInfo: request.content.userInfo), locked.reason == .locked,
            let envelope = locked.envelope
        else { return nil }
        let field = UNMutableNotificationContent()
        field.userInfo = [Envelope.fieldName: envelope]
        let again = UNNotificationRequest(identifier: request.identifier, content: field, trigger: nil)
        let content = await withCheckedContinuation { continuation in
            let opening = PushOpening(self, environment: environment)
            let run = ServiceRun(again, self, environment, opening, at: .now, countsFailures: false) { content in
                nonisolated(unsafe) let content = content
                continuation.resume(returning: content)
            } onEnd: { _ in
            }
            StageExecutor.queue().async { run.run() }
        }
        guard let sealed = sealed(userInfo: content.userInfo) else {
            // The message was a withdrawal, or a stage suppressed it.
            environment.notifications.removeDeliveredNotifications(withIdentifiers: [request.identifier])
            return nil
        }
        // A locked notification names no account, so it may be one that this configuration can't open.
        let isOthers = container.account != nil && sealed.reason == .unknownRecipient
        guard sealed.reason != .locked, !isOthers, let shown = content.mutableCopy() as? UNMutableNotificationContent
        else {
            return nil
        }
        // The safe default has already played its sound.
        shown.sound = nil
        return UNNotificationRequest(identifier: request.identifier, content: shown, trigger: nil)
    }
}
