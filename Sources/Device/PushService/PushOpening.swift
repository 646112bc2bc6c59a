import Dispatch
import Foundation
internal import PushCore
internal import SealedPush

/// One push, from the field on the wire to what is shown: steps 1 to 6 of Specification 6, and a line in the log.
struct PushOpening: Sendable {
    private let configuration: ServiceConfiguration
    /// The service module's folder; nil if the system doesn't know the app group.
    private let folder: URL?
    private let opener: Opener
    /// Replaced in tests.
    var ledger: (any ReplayLedger)?
    private let log: ServiceLog?
    private let markers: ConfirmationMarkers?
    private let now: @Sendable () -> Timestamp

    init(_ configuration: ServiceConfiguration, environment: DeviceEnvironment) {
        self.configuration = configuration
        opener = Opener(
            topic: configuration.topic, keys: DeviceKeys(configuration.keys.items(environment)),
            trusting: configuration.trusted(adding: environment.senders), allowsAnonymous: configuration.allowsAnonymous
        )
        folder = environment.folder(configuration.container)
        ledger = folder.map { FileLedger(in: $0) }
        log = folder.map { ServiceLog(folder: $0) }
        markers = folder.map { ConfirmationMarkers(in: $0) }
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
        do throws(OpenError) {
            let (opened, answer) = try open(
                field, requestIdentifier: requestIdentifier, writeTime: writeTime, at: now, if: \.isForNotification)
            guard let answer else { throw .malformedContent }
            let isRepeat = answer == .repeated
            if opened.content.withdrawal != nil { return .withdrawal(opened, isRepeat: isRepeat) }
            return .opened(
                NotificationDraft(
                    opened, isRepeat: isRepeat, disclosureRules(at: now), envelope: field,
                    canBeSuppressed: configuration.hasFilteringEntitlement))
        } catch {
            return .safeDefault(configuration.safeDefault, reason: error, envelope: error == .locked ? field : nil)
        }
    }

    /// Performs steps 1 to 6, and writes the log line.
    ///
    /// - Parameter isWanted: Whether this content belongs in the kind of push that it came in. Asked before anything is
    ///   recorded: a carrier can move an envelope into the other kind, where it must not be used up. ContentParts 21.3.
    /// - Returns: The content and the ledger's answer; no answer if the content isn't wanted.
    private func open(
        _ field: String?, requestIdentifier: String, writeTime: Duration = LedgerLimits.writeTime,
        at now: Timestamp, if isWanted: (Content) -> Bool
    ) throws(OpenError) -> (OpenedContent, LedgerAnswer?) {
        var candidates: Opener.Candidates?
        do throws(OpenError) {
            let found = try opener.candidates(for: Envelope(field: field), at: now)
            candidates = found
            let opened = try opener.open(found, at: now)
            let answer =
                isWanted(opened.content)
                ? try record(opened, requestIdentifier: requestIdentifier, within: writeTime, at: now) : nil
            writeLog(answer == nil ? .malformedContent : nil, opened.recipient.keyID, opened.sender?.keyID, at: now)
            return (opened, answer)
        } catch {
            // Log only the device's or the app's own keys. Source: DeviceState 33.3.
            writeLog(
                error, candidates?.keys.first?.identity.recipient.keyID, candidates?.pairs.first?.sender?.keyID, at: now
            )
            throw error
        }
    }

    /// Performs the same steps for the app, on a notification's envelope that was kept.
    func open(field: String, requestIdentifier: String) throws(OpenError) -> OpenedContent {
        let (opened, answer) = try open(
            field, requestIdentifier: requestIdentifier, at: now(), if: \.isForNotification)
        guard let answer else { throw .malformedContent }
        if answer == .first { markKey(of: opened) }
        return opened
    }

    /// Performs the same steps for the app, on a background push's envelope. Returns nil if it belongs in a notification.
    func openWithdrawal(field: String) throws(OpenError) -> (content: OpenedContent, isRepeat: Bool)? {
        let (opened, answer) = try open(
            field, requestIdentifier: "withdrawal", at: now(), if: \.isBackground)
        guard let answer else { return nil }
        if answer == .first { markKey(of: opened) }
        return (opened, answer != .first)
    }

    /// Returns the senders that are trusted now, or nil if that can't be read.
    func trustedSenders() -> [SenderPublicKey]? { try? opener.trustedSenders(at: now()) }

    /// Returns the content of a shown notification's envelope, or nil if it no longer opens. Records nothing.
    func content(ofShown field: String) -> Content? {
        guard let envelope = try? Envelope(parsing: field) else { return nil }
        return try? opener.open(envelope, at: now()).content
    }

    /// Returns the app's rules, or the strictest if they can't be read.
    private func disclosureRules(at now: Timestamp) -> DisclosureRules {
        do throws(RulesError) {
            guard let folder else { throw .unreadable }
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
        case .opened(let draft) where !draft.isRepeat: markKey(of: draft.opened)
        case .withdrawal(let opened, isRepeat: false): markKey(of: opened)
        default: break
        }
        guard SecureRandom.bytes(count: 1)[0] < Self.tidyChance else { return }
        ledger?.purge(at: now())
    }

    /// Specification 13.2: marks the key only for an authenticated message, because anyone can send an anonymous one.
    private func markKey(of opened: OpenedContent) {
        guard opened.sender != nil else { return }
        markers?.mark(opened.recipient, at: now())
    }

    /// Performs step 6 within its time, because a hanging file system must not cost the user the notification. If no
    /// time is left, nothing is written: a message that isn't shown hasn't been opened.
    private func record(
        _ opened: OpenedContent, requestIdentifier: String, within time: Duration, at now: Timestamp
    ) throws(OpenError) -> LedgerAnswer {
        guard let ledger, time > .zero else { throw .ledgerUnavailable }
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

extension Content {
    fileprivate var isForNotification: Bool { !isBackground }
}

/// The count on the app's icon couldn't be written.
private struct BadgeFailure: StageError { let code = "unwritable" }
