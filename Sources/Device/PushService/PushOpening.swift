import Dispatch
import Foundation
internal import PushCore
internal import SealedPush

/// One push, from the field on the wire to what is shown: steps 1 to 6 of Specification 6, and a line in the log.
struct PushOpening: Sendable {
    private let configuration: ServiceConfiguration
    private let environment: DeviceEnvironment
    private let keys: DeviceKeys
    /// The ledger of the account without a name. Replaced in tests.
    var ledger: (any ReplayLedger)?
    private let log: ServiceLog?
    private let now: @Sendable () -> Timestamp

    /// Opens messages of every account; with an account's own configuration, only that account's.
    init(_ configuration: ServiceConfiguration, environment: DeviceEnvironment) {
        self.configuration = configuration
        self.environment = environment
        keys = DeviceKeys(configuration.keys.allItems(environment))
        let folder = environment.folder(configuration.container.whole)
        ledger = folder.map { FileLedger(in: $0) }
        log = folder.map { ServiceLog(folder: $0) }
        now = environment.now
    }

    /// Opens the payload's `custom-encrypted-message`, nil if it isn't a string, within the ledger's time limit.
    func present(
        field: String?, requestIdentifier: String, writeTime: Duration = LedgerLimits.writeTime
    ) -> Presentation {
        if field == nil, configuration.receivesPlainPushes { return .plain }
        let end = SystemLog.beginOpening()
        defer { end() }
        let now = now()
        var owner: Owner?
        do throws(OpenError) {
            let (opened, answer, sender) = try open(
                field, requestIdentifier: requestIdentifier, writeTime: writeTime, at: now, &owner,
                if: \.isForNotification)
            guard let answer else { throw .malformedContent }
            let isRepeat = answer == .repeated
            if opened.content.withdrawal != nil { return .withdrawal(opened, isRepeat: isRepeat, owner: sender) }
            var draft = NotificationDraft(
                opened, isRepeat: isRepeat, disclosureRules(at: now), envelope: field,
                canBeSuppressed: configuration.hasFilteringEntitlement)
            draft.owner = sender
            return .opened(draft)
        } catch {
            let safeDefault = owner?.configuration.safeDefault ?? configuration.safeDefault
            return .safeDefault(safeDefault, reason: error, envelope: error == .locked ? field : nil, owner: owner)
        }
    }

    /// Performs steps 1 to 6, and writes the log line.
    ///
    /// - Parameters:
    ///   - matched: The one account whose key matches, even if the message doesn't open.
    ///   - isWanted: Whether this content belongs in the kind of push that it came in. Asked before anything is
    ///     recorded: a carrier can move an envelope into the other kind, where it must not be used up. ContentParts 21.3.
    /// - Returns: The content, the ledger's answer, and the account; no answer if the content isn't wanted.
    private func open(
        _ field: String?, requestIdentifier: String, writeTime: Duration = LedgerLimits.writeTime,
        at now: Timestamp, _ matched: inout Owner?, if isWanted: (Content) -> Bool
    ) throws(OpenError) -> (OpenedContent, LedgerAnswer?, Owner) {
        var candidates: Opener.Candidates?
        do throws(OpenError) {
            let (opened, owner) = try unseal(Envelope(field: field), at: now, &matched, &candidates)
            let answer =
                isWanted(opened.content)
                ? try record(opened, of: owner, requestIdentifier: requestIdentifier, within: writeTime, at: now) : nil
            writeLog(answer == nil ? .malformedContent : nil, opened.recipient.keyID, opened.sender?.keyID, at: now)
            return (opened, answer, owner)
        } catch {
            // Log only the device's or the app's own keys. Source: DeviceState 33.3.
            writeLog(
                error, candidates?.keys.first?.identity.recipient.keyID, candidates?.pairs.first?.sender?.keyID, at: now
            )
            throw error
        }
    }

    /// Performs steps 2 to 5 with the keys and senders of each account that the first hint matches. The first valid tag
    /// decides whose message it is, and no sender is tried with another account's keys. Source: DeviceState 39.3.
    private func unseal(
        _ envelope: Envelope, at now: Timestamp, _ matched: inout Owner?, _ candidates: inout Opener.Candidates?
    ) throws(OpenError) -> (OpenedContent, Owner) {
        let (found, accounts) = try matches(envelope)
        var failure: OpenError?
        var pairCount = Envelope.maximumPairCount
        for match in found {
            var tried: Owner?
            do throws(OpenError) {
                guard let owner = try owner(match.account, among: accounts) else { continue }
                tried = owner
                if found.count == 1 { matched = owner }
                let opener = opener(of: owner, match.keys)
                let these = try opener.candidates(for: envelope, at: now).limited(to: pairCount)
                pairCount -= these.pairs.count
                candidates = candidates ?? these
                let opened = try opener.open(these, at: now)
                (matched, candidates) = (owner, these)
                return (opened, owner)
            } catch {
                // After a valid tag, the message can't be another account's.
                guard error.leavesOwnerOpen else {
                    matched = tried
                    throw error
                }
                failure = failure ?? error
            }
        }
        throw failure ?? .unknownRecipient
    }

    private func matches(_ envelope: Envelope) throws(OpenError) -> (
        found: [DeviceKeys.Match], accounts: [StoredAccount]
    ) {
        do throws(KeyStoreError) {
            let (found, accounts) = try keys.matches(envelope.matches)
            guard let only = configuration.container.account else { return (found, accounts) }
            return (found.filter { $0.account?.id == only }, accounts)
        } catch { throw OpenError(error) }
    }

    /// Returns nil if the account has been removed since it was listed.
    private func owner(_ account: StoredAccount?, among accounts: [StoredAccount]) throws(OpenError) -> Owner? {
        let whole = configuration.container.whole
        let others = accounts.filter { $0.id != account?.id }.map { SharedContainer.account($0.id, in: whole) }
        guard let account else {
            return Owner(configuration: configuration, stored: nil, others: accounts.isEmpty ? nil : others)
        }
        do throws(KeyStoreError) {
            guard let pins = try keys.pins(of: account) else { return nil }
            return Owner(configuration: configuration.of(pins, account.id), stored: account, others: [whole] + others)
        } catch { throw OpenError(error) }
    }

    private func opener(of owner: Owner, _ found: [DeviceKey]) -> Opener {
        let app = owner.configuration
        // A test device's own sender speaks for the account without a name only.
        let others = owner.stored == nil ? environment.senders : []
        return Opener(
            topic: app.topic, keys: FoundKeys(found: found, all: DeviceKeys(app.keys.items(environment))),
            trusting: app.trusted(adding: others), allowsAnonymous: app.allowsAnonymous)
    }

    /// Performs the same steps for the app, on a notification's envelope that was kept.
    func open(field: String, requestIdentifier: String) throws(OpenError) -> OpenedContent {
        var matched: Owner?
        let (opened, answer, owner) = try open(
            field, requestIdentifier: requestIdentifier, at: now(), &matched, if: \.isForNotification)
        guard let answer else { throw .malformedContent }
        if answer == .first { markKey(of: opened, owner) }
        return opened
    }

    /// Performs the same steps for the app, on a background push's envelope. Returns nil if it belongs in a notification.
    func openWithdrawal(field: String) throws(OpenError) -> (content: OpenedContent, isRepeat: Bool, owner: Owner)? {
        var matched: Owner?
        let (opened, answer, owner) = try open(
            field, requestIdentifier: "withdrawal", at: now(), &matched, if: \.isBackground)
        guard let answer else { return nil }
        if answer == .first { markKey(of: opened, owner) }
        return (opened, answer != .first, owner)
    }

    /// Returns the senders that are trusted now for an account, or nil if that can't be read.
    func trustedSenders(of owner: Owner) -> [SenderPublicKey]? { try? opener(of: owner, []).trustedSenders(at: now()) }

    /// Whether the account with a name has been removed since the message opened. False if that can't be read.
    func isGone(_ owner: Owner?) -> Bool {
        guard let stored = owner?.stored else { return false }
        do throws(KeyStoreError) { return try keys.pins(of: stored) == nil } catch { return false }
    }

    func presentGone() -> Presentation { .safeDefault(configuration.safeDefault, reason: .unknownRecipient) }

    /// Returns the content of a shown notification's envelope, or nil if it no longer opens. Records nothing.
    func content(ofShown field: String, of owner: Owner) -> Content? {
        guard let envelope = try? Envelope(parsing: field),
            let match = try? matches(envelope).found.first(where: { $0.account?.id == owner.id })
        else { return nil }
        return try? opener(of: owner, match.keys).open(envelope, at: now()).content
    }

    /// Returns the app's rules, or the strictest if they can't be read.
    private func disclosureRules(at now: Timestamp) -> DisclosureRules {
        do throws(RulesError) {
            guard let folder = environment.folder(configuration.container.whole) else { throw .unreadable }
            return try DisclosureRules(in: folder)
        } catch {
            write(ServiceLog.Entry(time: now, stage: "DisclosureRules", failure: error))
            return DisclosureRules(level: .generic)
        }
    }

    func presentOutOfTime() -> Presentation { .safeDefault(configuration.safeDefault, reason: .outOfTime) }

    func logOutOfTime() { writeLog(.outOfTime, nil, nil, at: now()) }

    func logFailure(of stage: any ServiceStage, _ error: any Error) {
        write(ServiceLog.Entry(time: now(), stage: "\(type(of: stage))", failure: error))
    }

    func logBadgeFailure() { write(ServiceLog.Entry(time: now(), stage: "BadgeCount", failure: BadgeFailure())) }

    /// Cleans up after the push has been shown: tells the app which key opened it, and occasionally purges the ledger.
    func tidy(after shown: Presentation) {
        switch shown {
        case .opened(let draft) where !draft.isRepeat: markKey(of: draft.opened, draft.owner)
        case .withdrawal(let opened, isRepeat: false, let owner): markKey(of: opened, owner)
        default: break
        }
        guard SecureRandom.bytes(count: 1)[0] < Self.tidyChance else { return }
        ledger(of: shown.owner)?.purge(at: now())
    }

    /// Specification 13.2: marks the key only for an authenticated message, because anyone can send an anonymous one.
    private func markKey(of opened: OpenedContent, _ owner: Owner?) {
        guard opened.sender != nil else { return }
        let container = owner?.configuration.container ?? configuration.container
        environment.folder(container).map(ConfirmationMarkers.init(in:))?.mark(opened.recipient, at: now())
    }

    private func ledger(of owner: Owner?) -> (any ReplayLedger)? {
        guard let container = owner?.configuration.container, container.account != nil else { return ledger }
        return environment.folder(container).map { FileLedger(in: $0) }
    }

    /// Performs step 6 within its time, because a hanging file system must not cost the user the notification. If no
    /// time is left, nothing is written: a message that isn't shown hasn't been opened.
    private func record(
        _ opened: OpenedContent, of owner: Owner, requestIdentifier: String, within time: Duration, at now: Timestamp
    ) throws(OpenError) -> LedgerAnswer {
        guard let ledger = ledger(of: owner), time > .zero else { throw .ledgerUnavailable }
        let end = SystemLog.beginRecording()
        defer { end() }
        let entry = LedgerEntry(key: opened.ledgerKey, sent: opened.sent, requestIdentifier: requestIdentifier)
        let answer = Locked<Result<LedgerAnswer, LedgerError>?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let result = Result { () throws(LedgerError) in try ledger.record(entry, at: now) }
            answer.withLock { $0 = result }
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + time / .seconds(1))
        switch answer.withLock({ $0 }) {
        case .success(let answer): return answer
        case .failure(.replayed): throw .replayed
        case .failure(.unavailable), nil: throw .ledgerUnavailable
        }
    }

    private func writeLog(_ reason: OpenError?, _ recipient: KeyID?, _ sender: KeyID?, at now: Timestamp) {
        write(
            ServiceLog.Entry(
                time: now, reason: reason, recipientKeyID: recipient?.description, senderKeyID: sender?.description))
    }

    private func write(_ entry: ServiceLog.Entry) {
        SystemLog.write(entry)
        log?.append(entry)
    }

    /// Out of 256: one push in 32.
    private static let tidyChance: UInt8 = 8
}

/// An account's keys that were found by an envelope's hints, with the account's sender sets.
private struct FoundKeys: KeyStore {
    let found: [DeviceKey]
    let all: DeviceKeys

    func keys(matching isWanted: (DevicePublicKey) -> Bool) -> [DeviceKey] {
        found.filter { isWanted($0.identity.recipient) }
    }

    func senderSet(for topic: Topic, of authorities: [AuthorityPublicKey]) throws(KeyStoreError) -> SenderSet? {
        try all.senderSet(for: topic, of: authorities)
    }
}

extension OpenError {
    /// Whether no tag was valid, so that another account whose key matches may still own the message.
    fileprivate var leavesOwnerOpen: Bool {
        switch facts.step {
        case .envelope, .recipient, .sender, .unsealing: true
        case .content, .topic, .key, .clock, .age, .expiry, .ledger, nil: false
        }
    }
}

extension Content {
    fileprivate var isForNotification: Bool { !isBackground }
}

/// The count on the app's icon couldn't be written.
private struct BadgeFailure: StageError { let code = "unwritable" }
