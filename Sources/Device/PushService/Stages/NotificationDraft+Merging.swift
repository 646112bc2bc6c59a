import SealedPush

extension NotificationDraft {
    /// Takes over what differs between `given` and `returned`, and leaves alone what others have changed since.
    mutating func merge(_ returned: NotificationDraft, givenTo given: NotificationDraft) {
        guard returned.opened.ledgerKey == given.opened.ledgerKey else { return }
        guard !returned.replacesContent(of: given) else {
            // The content itself came later: what was made of the first part of it no longer counts.
            self = returned
            return
        }
        let before = self
        take(\.title, from: returned, unlessAs: given)
        take(\.subtitle, from: returned, unlessAs: given)
        take(\.body, from: returned, unlessAs: given)
        if !isVisible { (title, subtitle, body) = (before.title, before.subtitle, before.body) }
        take(\.badge, from: returned, unlessAs: given)
        take(\.sound, from: returned, unlessAs: given)
        take(\.threadID, from: returned, unlessAs: given)
        take(\.category, from: returned, unlessAs: given)
        take(\.interruptionLevel, from: returned, unlessAs: given)
        take(\.relevanceScore, from: returned, unlessAs: given)
        take(\.data, from: returned, unlessAs: given)
        mergeAttachments(returned, givenTo: given)
    }

    private func replacesContent(of given: NotificationDraft) -> Bool { opened.content != given.opened.content }

    private mutating func take<Value: Equatable>(
        _ field: WritableKeyPath<NotificationDraft, Value>, from returned: NotificationDraft,
        unlessAs given: NotificationDraft
    ) {
        if returned[keyPath: field] != given[keyPath: field] { self[keyPath: field] = returned[keyPath: field] }
    }

    /// Identifiers are unique: of two attachments with one, the later stays.
    private mutating func mergeAttachments(_ returned: NotificationDraft, givenTo given: NotificationDraft) {
        let gone = Set(given.attachments.map(\.identifier)).subtracting(returned.attachments.map(\.identifier))
        let new = returned.attachments.filter { !given.attachments.contains($0) }
        let replaced = gone.union(new.map(\.identifier))
        let merged = attachments.filter { !replaced.contains($0.identifier) } + new
        // A stable sort: those at one place stay as they came.
        attachments = merged.enumerated()
            .sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }
            .map(\.element)
    }
}
