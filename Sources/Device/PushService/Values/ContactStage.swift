internal import SealedPush

/// Names the phone's own contact for a message's author and its group's recipients, whom the server knows only by an `id`.
///
/// A Focus lets the messages of allowed people through, and only the phone knows its contacts. The app gives the answer, such
/// as from a file that it keeps in the shared container, or from `CNContactStore`. Nothing about a contact leaves the phone.
/// Source: ContentParts 19.5.
public struct ContactStage: ServiceStage {
    private let find: @Sendable (String, AccountName?) async throws -> Contact?

    /// Creates a stage.
    ///
    /// - Parameter find: Returns the contact for a person's `id`; nil if there is none. An error leaves the others. Each
    ///   account's server chooses its own IDs, so the account's name is part of the question; nil for the app's own.
    public init(find: @escaping @Sendable (_ id: String, _ account: AccountName?) async throws -> Contact?) {
        self.find = find
    }

    /// Quick, because contacts are on the phone.
    public var pace: StagePace { .quick }

    /// Returns the draft with the contacts that were found.
    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        guard let person = draft.person else { return draft }
        var known = draft
        for id in [person.id] + (draft.group?.recipients.map(\.id) ?? []) {
            guard let contact = try? await find(id, context.account?.name) else { continue }
            known.contacts[id] = contact
        }
        return known
    }
}
