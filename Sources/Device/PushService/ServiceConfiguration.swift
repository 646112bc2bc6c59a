public import SealedPush

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
    /// Who signs the app's sender sets (``OwnDevice/accept(senderSet:at:)``), which replace the senders without an update of the
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
    /// What is done with content that has opened, within the time there is: attachments, charts, receipts, the app's own
    /// steps. Without them its text is shown, and nothing is fetched.
    public let stages: [any ServiceStage]

    /// Makes a configuration; see each property for what it means.
    public init(
        topic: Topic, keys: KeySource, trusting senders: [SenderPublicKey], authorities: [AuthorityPublicKey] = [],
        safeDefault: SafeDefault, container: SharedContainer, allowsAnonymous: Bool = false,
        receivesPlainPushes: Bool = false, stages: [any ServiceStage] = []
    ) {
        self.topic = topic
        self.keys = keys
        self.senders = senders
        self.authorities = authorities
        self.safeDefault = safeDefault
        self.container = container
        self.allowsAnonymous = allowsAnonymous
        self.receivesPlainPushes = receivesPlainPushes
        self.stages = stages
    }
}

extension ServiceConfiguration {
    var trusted: TrustedSenders { TrustedSenders(senders, authorities: authorities) }

    /// Opens an envelope that arrived while the device was locked. For the app, once it is unlocked.
    ///
    /// All steps of Specification 6, the ledger included; blocks for as long as two syncs of the disk take.
    ///
    /// - Parameters:
    ///   - envelope: ``SealedNotification/envelope``.
    ///   - requestIdentifier: the notification's `request.identifier`.
    public func open(envelope: String, requestIdentifier: String) throws(OpenError) -> OpenedContent {
        try PushOpening(self, environment: .system).open(field: envelope, requestIdentifier: requestIdentifier)
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
