internal import PushCore
package import SealedPush

/// The parts of a message that its notification shows. Source: ContentParts 26; DeviceState 31.1.
extension NotificationDraft {
    /// The level at which the message is shown: the strictest of the sealed one, the app's rules, and what stages have set.
    package var shownLevel: Content.Disclosure {
        let sealed = opened.content
        let strictest = max(
            leastLevel, sealed.disclosure, self.disclosure,
            rules.level(of: sealed.person, in: owner?.name), rules.level(of: self.person, in: owner?.name)
        )
        return strictest == .sender && self.person == nil ? .generic : strictest
    }

    /// The attachments that the notification shows.
    var shownAttachments: [DraftAttachment] { shownLevel == .full && !isSuppressed ? attachments : [] }

    /// Whether the notification needs an attachment: as itself, or as the picture of its person.
    func needs(_ attachment: Content.Attachment) -> Bool {
        switch shownLevel {
        case .full: return true
        case .sender:
            guard case .attachment(let id)? = self.person?.image else { return false }
            return attachment.id.hasBytes(of: id)
        case .generic: return false
        }
    }

    /// Returns the draft with nothing but what its notification shows, which replaces its text with the app's.
    ///
    /// Begins with empty content, so that a member is left out unless this function names it. ``opened`` stays, for the stages
    /// that run after the handover.
    func disclosed(as generic: SafeDefault) -> NotificationDraft {
        let level = shownLevel
        guard level != .full else { return self }
        var shown = Content(title: generic.title, body: generic.body)
        if level == .sender, let person = self.person {
            shown.person = person
            let text = VisibleText.isVisible(generic.body) ? generic.body : generic.title
            shown.alert = Content.Alert(title: person.name, body: text)
        }
        (shown.badge, shown.interruptionLevel) = (self.badge, self.interruptionLevel)
        shown.sound = self.sound?.withoutName
        return replacingContent(with: shown, at: level)
    }
}

extension Content.Sound {
    /// The default sound, as loud: the name of a sound may tell what the message is about.
    fileprivate var withoutName: Content.Sound {
        switch self {
        case .named: .named("default")
        case .critical(_, let volume): .critical(name: "default", volume: volume)
        }
    }
}
