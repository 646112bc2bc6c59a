internal import Dispatch
public import SealedPush
public import UserNotifications

/// All that an app tells the service module: whose messages it opens, for which app, with which keys, and what a person
/// sees when that fails.
public struct ServiceConfiguration: Sendable {
    /// The app's own bundle ID: the app's, not the extension's.
    public let topic: Topic
    /// Where the device's keys are.
    public let keys: KeySource
    /// The servers' public keys: who is believed, most likely first, until a sender set of one of the authorities was
    /// accepted.
    public let senders: [SenderPublicKey]
    /// Who signs the app's sender sets (``ThisDevice/accept(senderSet:at:)``), which replace the senders without an update of the
    /// app. Keep the secret halves on a machine without a network.
    public let authorities: [AuthorityPublicKey]
    /// What is shown whenever opening does not succeed.
    public let safeDefault: SafeDefault
    /// The folder that app and extension share.
    public let container: SharedContainer
    /// Whether sealed boxes open too: false unless anybody may send to this app.
    public let allowsAnonymous: Bool
    /// Whether a push without the field passes unchanged: false unless this app also gets pushes that are not sealed.
    /// Anybody on the way can make one, so a plain push proves nothing.
    public let receivesPlainPushes: Bool
    /// Which keys the device makes. A device changes to them by its next ``ThisDevice/maintain(rotatingOlderThan:serverKnows:at:)``.
    public let keyPolicy: KeyPolicy
    /// For how many days a retired key's secret is kept, 1 to 31; it is erased a day later. A push that takes longer to
    /// arrive may show the safe default.
    public let keepsRetiredKeys: Int
    /// What is done with content that has opened, within the time there is: attachments, charts, receipts, the app's own
    /// steps. Without them its text is shown, and nothing is fetched.
    public let stages: [any ServiceStage]
    /// The device that the app's calls use; tests put in another.
    package var environment = DeviceEnvironment.system

    /// Makes a configuration; see each property for what it means.
    public init(
        topic: Topic, keys: KeySource, trusting senders: [SenderPublicKey], authorities: [AuthorityPublicKey] = [],
        safeDefault: SafeDefault, container: SharedContainer, allowsAnonymous: Bool = false,
        receivesPlainPushes: Bool = false, keyPolicy: KeyPolicy = .classical, keepsRetiredKeys: Int = 30,
        stages: [any ServiceStage] = []
    ) {
        precondition((1...31).contains(keepsRetiredKeys), "retired keys are kept for 1 to 31 days")
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
        self.stages = stages
    }
}

extension ServiceConfiguration {
    var trusted: TrustedSenders { trusted(adding: []) }

    func trusted(adding others: [SenderPublicKey]) -> TrustedSenders {
        TrustedSenders(PublishedKeys.trusted(senders) + others, authorities: PublishedKeys.trusted(authorities))
    }

    /// Opens an envelope outside the extension, and shows nothing; never on the main actor. For what arrived before the
    /// first unlock there is ``reopened(_:)``.
    ///
    /// All steps of Specification 6, the ledger included; takes as long as two syncs of the disk.
    ///
    /// - Parameters:
    ///   - envelope: ``SealedNotification/envelope``, or a background push's field `custom-encrypted-message`.
    ///   - requestIdentifier: the notification's `request.identifier`, or what names the push.
    @concurrent public func open(envelope: String, requestIdentifier: String) async throws(OpenError) -> OpenedContent {
        try PushOpening(self, environment: environment)
            .open(field: envelope, requestIdentifier: requestIdentifier).content
    }

    /// Opens a notification that arrived before the first unlock after a restart, with all stages, as the extension would
    /// have. For the app: when it becomes active, and at `applicationProtectedDataDidBecomeAvailable`.
    ///
    /// Adding the request to the notification center replaces the safe default, without a sound. ``SealedNotification`` reads its
    /// user info like that of any other. Opening and stages run off the main actor; the stages have 25 seconds.
    ///
    /// - Returns: nil if the notification has no envelope, the device is still locked, or the message was a withdrawal. If the message doesn't open, a request
    ///   that shows the safe default without the envelope, so that it isn't tried again.
    nonisolated(nonsending) public func reopened(_ notification: UNNotification) async -> UNNotificationRequest? {
        let request = notification.request
        guard let envelope = SealedNotification(userInfo: request.content.userInfo)?.envelope else { return nil }
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
        guard let sealed = SealedNotification(userInfo: content.userInfo) else {
            // It was a withdrawal.
            environment.center().removeDeliveredNotifications(withIdentifiers: [request.identifier])
            return nil
        }
        guard sealed.envelope == nil, let shown = content.mutableCopy() as? UNMutableNotificationContent else {
            return nil
        }
        // The safe default was heard before.
        shown.sound = nil
        return UNNotificationRequest(identifier: request.identifier, content: shown, trigger: nil)
    }
}

/// What a person sees whenever opening does not succeed: the same for every cause.
///
/// Chosen when the app is built and translated in the extension's bundle, so that nothing of the wire is in it.
public struct SafeDefault: Hashable, Sendable {
    public let title: String
    public let body: String
    /// Whether the default sound is played.
    public let playsSound: Bool

    /// Stops the program unless a person could see title or body: iOS would show the wire's own text in place of an
    /// empty one.
    public init(title: String = "", body: String, playsSound: Bool = true) {
        precondition(
            VisibleText.isVisible(title) || VisibleText.isVisible(body),
            "a safe default has a title or body that a person can see")
        self.title = title
        self.body = body
        self.playsSound = playsSound
    }
}
