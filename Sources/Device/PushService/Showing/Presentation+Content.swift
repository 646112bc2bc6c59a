import Foundation
internal import PushCore
import SealedPush
internal import UserNotifications

#if canImport(Intents)
internal import Intents
#endif

extension Presentation {
    /// Makes the notification's content: new and empty, then filled. `original` is used only for plain pushes, and `generic`
    /// is the text of a message that isn't shown.
    func content(
        original: UNNotificationContent, generic: SafeDefault, _ seal: NotificationSeal
    ) -> UNNotificationContent {
        switch self {
        // Source: Apple, "com.apple.developer.usernotifications.filtering".
        case .opened(let draft) where draft.isSuppressed: UNNotificationContent()
        case .opened(let draft):
            Self.content(draft.disclosed(as: draft.owner?.configuration.safeDefault ?? generic), seal)
        case .safeDefault(let safeDefault, let reason, let envelope, let owner):
            Self.content(safeDefault, reason: reason, envelope: envelope, owner, seal)
        case .plain: Self.withoutClaim(original)
        case .withdrawal: UNNotificationContent()
        }
    }

    private static func content(_ draft: NotificationDraft, _ seal: NotificationSeal) -> UNNotificationContent {
        let shown = UNMutableNotificationContent()
        shown.title = draft.title
        shown.subtitle = draft.subtitle
        shown.body = draft.body
        shown.threadIdentifier = draft.threadID ?? ""
        shown.categoryIdentifier = draft.category ?? ""
        shown.relevanceScore = draft.relevanceScore ?? 0
        shown.filterCriteria = draft.filterCriteria
        shown.targetContentIdentifier = draft.targetContentID
        // A repeat silently replaces itself on the screen.
        let isQuiet = draft.isRepeat || draft.muting != .none
        shown.interruptionLevel = isQuiet ? .passive : draft.interruptionLevel?.system ?? .active
        shown.sound = isQuiet ? nil : draft.sound?.system
        if !draft.isRepeat { shown.badge = draft.badge.map { NSNumber(value: $0) } }
        shown.attachments = draft.attachments.compactMap(\.system)
        shown.userInfo = [SealedNotification.key: seal.adding(to: userInfo(draft))]
        return shown.asMessage(of: draft) ?? shown
    }

    private static func content(
        _ safeDefault: SafeDefault, reason: OpenError, envelope: String?, _ owner: Owner?, _ seal: NotificationSeal
    ) -> UNNotificationContent {
        let shown = UNMutableNotificationContent()
        shown.title = safeDefault.title
        shown.body = safeDefault.body
        shown.sound = safeDefault.playsSound ? .default : nil
        var members: [String: Any] = ["outcome": "safe-default", "reason": reason.rawValue]
        members["envelope"] = envelope
        owner?.write(to: &members)
        shown.userInfo = [SealedNotification.key: seal.adding(to: members)]
        return shown
    }

    private static func userInfo(_ draft: NotificationDraft) -> [String: Any] {
        let opened = draft.opened
        var members: [String: Any] = ["outcome": "opened", "id": opened.id.description]
        members["sent"] = Int(opened.sent.secondsSince1970)
        members["expires"] = opened.content.expires.map { Int($0.secondsSince1970) }
        draft.owner?.write(to: &members)
        members["sender"] = opened.sender?.description
        let level = draft.shownLevel
        guard level == .full else {
            members["disclosure"] = level.rawValue
            members["envelope"] = draft.envelope
            return members
        }
        members["data"] = draft.data.map(SealedNotification.text)
        if !opened.content.other.isEmpty { members["other"] = SealedNotification.text(.object(opened.content.other)) }
        let addresses = draft.attachments.compactMap { attachment in
            attachment.remoteURL.map { (attachment.identifier, $0.absoluteString) }
        }
        if !addresses.isEmpty { members["attachments"] = Dictionary(addresses) { first, _ in first } }
        return members
    }

    /// Removes the service module's key, because a plain push must not claim to be sealed.
    private static func withoutClaim(_ original: UNNotificationContent) -> UNNotificationContent {
        guard original.userInfo[SealedNotification.key] != nil,
            let shown = original.mutableCopy() as? UNMutableNotificationContent
        else { return original }
        shown.userInfo[SealedNotification.key] = nil
        return shown
    }
}

extension ServiceConfiguration {
    /// The group of the interactions that the extension donates for an account, nil for the app's own, so that the app can delete
    /// them, and no others, at a logout.
    package static func interactionGroup(of account: AccountID?) -> String {
        account.map { "sealed-push \($0)" } ?? "sealed-push"
    }
}

extension UNMutableNotificationContent {
    /// Returns the content as a person's message, with their picture. Nil if the system can't do that; the content is then
    /// shown as is. Source: Apple, "Implementing communication notifications"; DeviceState 37.2.
    fileprivate func asMessage(of draft: NotificationDraft) -> UNNotificationContent? {
        #if canImport(Intents) || os(Linux)
        guard let person = draft.person else { return nil }
        let group = draft.group
        let sender = INPerson(id: person.id, name: person.name, person.image?.system, draft.contacts[person.id])
        let recipients = group?.recipients.map { INPerson(id: $0.id, name: $0.name, nil, draft.contacts[$0.id]) }
        // Each account's server chooses its own names of conversations.
        let conversation = self.threadIdentifier.isEmpty ? group?.name ?? person.id : self.threadIdentifier
        let intent = INSendMessageIntent(
            recipients: recipients, outgoingMessageType: .outgoingMessageText, content: nil,
            speakableGroupName: group.map { INSpeakableString(spokenPhrase: $0.name) },
            conversationIdentifier: draft.owner?.id.map { "\($0) \(conversation)" } ?? conversation, serviceName: nil,
            sender: sender, attachments: nil)
        if let group {
            // With fewer than two, the system shows a message to one person, without the group's name.
            let metadata = INSendMessageIntentDonationMetadata()
            metadata.recipientCount = group.count ?? max(group.recipients.count, 2)
            intent.donationMetadata = metadata
            if let image = group.image?.system { intent.setImage(image, forParameterNamed: \.speakableGroupName) }
        }
        // The person's name takes the title's place, so a message with only a title keeps it as its text.
        if !VisibleText.isVisible(self.body) { self.body = self.subtitle.isEmpty ? self.title : self.subtitle }
        let interaction = INInteraction(intent: intent, response: nil)
        interaction.direction = .incoming
        interaction.groupIdentifier = ServiceConfiguration.interactionGroup(of: draft.owner?.id)
        interaction.donate(completion: nil)
        return try? updating(from: intent)
        #else
        return nil
        #endif
    }
}

#if canImport(Intents) || os(Linux)
extension INPerson {
    /// `contact` is how the phone knows the person; without it, the system has nothing to find a contact by.
    fileprivate convenience init(id: String, name: String, _ image: INImage?, _ contact: Contact?) {
        self.init(
            personHandle: contact?.handle?.system ?? INPersonHandle(value: id, type: .unknown), nameComponents: nil,
            displayName: contact?.name ?? name, image: image, contactIdentifier: contact?.identifier,
            customIdentifier: id)
    }
}

extension Contact.Handle {
    fileprivate var system: INPersonHandle {
        switch self {
        case .phoneNumber(let number): INPersonHandle(value: number, type: .phoneNumber)
        case .emailAddress(let address): INPersonHandle(value: address, type: .emailAddress)
        }
    }
}

extension Content.Person.Image {
    /// Nil for an attachment that hasn't been read.
    fileprivate var system: INImage? {
        guard case .bytes(let bytes) = self else { return nil }
        return INImage(imageData: Data(bytes))
    }
}
#endif

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
        case .named(let name) where name.hasBytes(of: "default"): .default
        case .named(let name): UNNotificationSound(named: UNNotificationSoundName(name))
        case .critical(let name, let volume) where name.hasBytes(of: "default"):
            .defaultCriticalSound(withAudioVolume: Float(volume))
        case .critical(let name, let volume):
            .criticalSoundNamed(UNNotificationSoundName(name), withAudioVolume: Float(volume))
        }
    }
}

extension DraftAttachment {
    /// Nil if the system doesn't accept the file; the text is then shown without it.
    fileprivate var system: UNNotificationAttachment? {
        var options: [String: Any] = [:]
        options[UNNotificationAttachmentOptionsTypeHintKey] = type
        if let thumbnail {
            options[UNNotificationAttachmentOptionsThumbnailHiddenKey] = thumbnail.isHidden
            options[UNNotificationAttachmentOptionsThumbnailTimeKey] = thumbnail.time
            options[UNNotificationAttachmentOptionsThumbnailClippingRectKey] = thumbnail.clip.map { clip in
                // The form that `CGRect.dictionaryRepresentation` returns.
                ["X": clip.x, "Y": clip.y, "Width": clip.width, "Height": clip.height]
            }
        }
        return try? UNNotificationAttachment(identifier: identifier, url: file, options: options)
    }
}
