import Foundation
import PushCore
import PushOutbox
import PushSender
import PushService
import PushServiceTesting
import SealedPush
import UserNotifications

/// Knows what people were promised (ThreatModel 2), and compares what happens with it. It learns what happened from the places
/// where a world ends: the rows that were stored, Apple, and the screens.
final class Oracle: @unchecked Sendable {
    /// The first broken promise. What follows from it isn't of interest.
    private(set) var failure: Failure?
    private(set) var messages: [Int: Message] = [:]
    private var pushes: [String: Push] = [:]
    /// The pushes of each message, and of each device in the order in which they were stored.
    private var pushesOfMessage: [Int: [String]] = [:]
    private var pushesOfDevice: [String: [String]] = [:]
    private var messageOfKey: [[UInt8]: Int] = [:]
    /// The messages that each phone has shown, or whose opening it may have recorded.
    private var opened: [Int: Set<Int>] = [:]
    private var loud: [Int: Set<Int>] = [:]
    /// Of these, the ones whose extension was killed, so that nobody knows whether it recorded them.
    private var doubtful: [Int: Set<Int>] = [:]
    /// What the badge's count can be on each phone. What a killed extension or a full disk leaves isn't known.
    private var badges: [Int: ClosedRange<Int>] = [:]
    private var highestBadges: [Int: Int] = [:]
    /// What the copy of the outbox contains: whole messages, pushes, and how many of a message's were purged at most.
    private var copied: (messages: Set<Int>, pushes: Set<String>, purgeable: [Int: Int]) = ([], [], [:])
    /// The pushes that were lost with an outbox.
    private var lostPushes: Set<String> = []
    /// The stolen senders whose pushes the operator purged. No other purge ends a push as `purged`.
    private var purgedSenders: Set<SealedBy> = []
    /// How many pushes of each message were waiting when they were purged, and how many all purges took.
    private var purgeable: [Int: Int] = [:]
    private var purgedCount = 0
    /// How many pushes were discarded with their devices.
    private var discardedCount = 0
    /// Messages whose outcomes will be deleted, the oldest first.
    private var open: [Int] = []
    private unowned let world: World

    struct Failure: Sendable {
        /// The promise, the same for every message.
        let promise: String
        let details: String
        let message: Int?
    }

    struct Message {
        let number: Int
        /// The recipient, or nil for everyone.
        let user: Int?
        let content: Content
        let priority: PushPriority
        let expires: Timestamp?
        let thread: String
        /// Whether the caller was told that the message is stored.
        var report: EnqueueReport?
        var isAnswered = false
        /// The ID in the outbox.
        var id: MessageID?
        var storedAt: Timestamp?
        var firstStoredAt: Timestamp?
        /// The sender that sealed it last.
        var sender = ""

        /// Whether the restored outbox knows nothing of it, or only a part.
        var isForgotten = false

        var isWithdrawal: Bool { content.withdrawal != nil }
        /// Whether a caller may repeat the request: the server forgets its key after 30 days.
        var mayBeRepeated: Bool {
            !isForgotten && (firstStoredAt.map { Timestamp.now().seconds(since: $0) < 29 * 86_400 } ?? true)
        }
    }

    private struct Push {
        let apnsID: String
        let message: Int
        let device: String
        let sender: SealedBy
        let storedAt: Timestamp
        let envelope: Envelope?
        /// How often a courier took it.
        var leaseCount = 0
        /// What Apple answered to this very push.
        var refusals: Set<AppleRefusal> = []
        var acceptedCount = 0
        var phone: Int?
        /// Whether a copy has reached the phone, or was lost on the way.
        var hasArrived = false
    }

    /// What Apple has said about each device's address, and what it said last; nil if it accepted a push.
    private var refusals: [String: Set<AppleRefusal>] = [:]
    private var lastRefusal: [String: AppleRefusal] = [:]

    init(_ world: World) { self.world = world }

    func fail(_ promise: String, _ message: Int?, _ details: @autoclosure () -> String = "") {
        guard failure == nil else { return }
        failure = Failure(promise: promise, details: details(), message: message)
        world.log("BROKEN: \(promise): \(details())", of: message)
    }

    func fail(_ promise: String, _ request: PushRequest, _ details: @autoclosure () -> String = "") {
        fail(promise, pushes[request.apnsID]?.message, details())
    }

    // MARK: What the server promised

    func asked(_ message: Message) {
        messages[message.number] = message
        if let key = IdempotencyKey("message \(message.number)") { messageOfKey[key.digest] = message.number }
    }

    func answered(_ number: Int, _ report: EnqueueReport) {
        messages[number]?.isAnswered = true
        messages[number]?.report = report
        if report.skipped[.forged] != nil || report.skipped[.damaged] != nil {
            fail("no device's row is invalid in an outbox that nobody tampered with", number, "\(report.skipped)")
        }
        let stored = pushesOfMessage[number]?.count ?? 0
        if report.enqueuedCount + report.alreadyEnqueuedCount != stored {
            fail(
                "an answer counts the pushes that are stored", number,
                "\(report.enqueuedCount) + \(report.alreadyEnqueuedCount), but \(stored) are stored")
        }
    }

    func copiedOutbox() {
        // A message to one user is stored in one transaction, so the copy has all of it, whether or not the caller knows.
        let whole = messages.values.filter { $0.isAnswered || $0.user != nil && $0.storedAt != nil }
        copied = (Set(whole.map(\.number)), Set(pushes.keys).subtracting(lostPushes), purgeable)
    }

    func restoredOutbox() {
        for number in messages.keys where !copied.messages.contains(number) { messages[number]?.isForgotten = true }
        lostPushes.formUnion(Set(pushes.keys).subtracting(copied.pushes))
        purgeable = copied.purgeable
    }

    func refused(_ number: Int, _ error: OutboxError) {
        switch error {
        case .unknownUser, .unknownDevice, .busy, .unreachable:
            // The caller knows that it may repeat the call.
            break
        case .seal(.expiresTooLate): break
        default: fail("a valid message is stored", number, "\(error)")
        }
    }

    func stored(_ sealed: [EnqueueBatch.Sealed], _ order: EnqueueOrder) {
        guard let number = order.key.flatMap({ messageOfKey[$0.digest] }) else {
            return fail("only what was asked for is stored", nil)
        }
        messages[number]?.id = order.message
        messages[number]?.storedAt = .now()
        messages[number]?.sender = order.sealedBy.description
        for item in sealed {
            let device = item.entry.device ?? ""
            if own(number).contains(where: { $0.device == device }) {
                fail("a message is stored once for each device", number, device)
            }
            if let text = messages[number]?.content.alert.body, Self.contains(item.entry.body, text) {
                fail("no stored push shows its message", number)
            }
            pushes[item.entry.apnsID] = Push(
                apnsID: item.entry.apnsID, message: number, device: device, sender: order.sealedBy,
                storedAt: .now(), envelope: Self.envelope(in: item.entry.body))
            pushesOfMessage[number, default: []].append(item.entry.apnsID)
            pushesOfDevice[device, default: []].append(item.entry.apnsID)
            world.log("stored for \(device)", of: number)
        }
        if messages[number]?.firstStoredAt == nil {
            messages[number]?.firstStoredAt = .now()
            open.append(number)
        }
    }

    private func own(_ number: Int) -> [Push] { pushesOfMessage[number, default: []].compactMap { pushes[$0] } }

    // MARK: What the operator did

    func willPurge(sealedBy sender: SealedBy) { purgedSenders.insert(sender) }

    /// A transaction is about to purge a sender's pushes. It may take those that are waiting.
    func purges(sealedBy sender: SealedBy, _ outcomes: (MessageID) -> [MessageOutcome]) {
        guard purgedSenders.contains(sender) else { return fail("only what the operator named is purged", nil) }
        for (number, message) in messages where own(number).contains(where: { $0.sender == sender }) {
            let counts = Counts(message.id.map(outcomes) ?? [])
            if counts.waiting > 0 { purgeable[number, default: 0] += counts.waiting }
        }
    }

    func purged(_ count: Int) { purgedCount += count }

    /// Pushes were discarded with their device, its account, or its address.
    func discarded(_ count: Int) { discardedCount += count }

    func leased(_ request: PushRequest) { pushes[request.apnsID]?.leaseCount += 1 }

    /// The files that the extension keeps contain no message, and no secret of a key.
    func checkFiles(of phone: Phone) {
        let keys = phone.keychain.list().compactMap { try? phone.keychain.secret(account: $0.account) }
        let secrets = keys.map { $0.withBytes { Array($0) } }
        for name in (try? FileManager.default.subpathsOfDirectory(atPath: phone.folder.path)) ?? [] {
            let content = [UInt8]((try? Data(contentsOf: phone.folder.appending(path: name))) ?? Data())
            if Self.contains(content, "Message ") || Self.contains(content, "User ") {
                fail("no file of a phone contains a message", nil, name)
            }
            if secrets.contains(where: { $0.count >= 16 && Data(content).firstRange(of: $0) != nil }) {
                fail("no file of a phone contains a secret", nil, name)
            }
        }
    }

    private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        let text = Array(text.utf8)
        guard let first = text.first, bytes.count >= text.count else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            (0...bytes.count - text.count).contains { start in
                bytes[start] == first && bytes[start..<start + text.count].elementsEqual(text)
            }
        }
    }

    private static func envelope(in body: [UInt8]) -> Envelope? {
        let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        return (object?[Envelope.fieldName] as? String).flatMap { try? Envelope(parsing: $0) }
    }

    // MARK: What Apple did

    func accepted(_ request: PushRequest, for phone: Int) {
        guard var push = pushes[request.apnsID] else { return fail("only stored pushes are sent", request) }
        push.acceptedCount += 1
        push.phone = phone
        pushes[request.apnsID] = push
        lastRefusal[push.device] = nil
        world.log("Apple accepted it for phone \(phone)", of: push.message)
    }

    func refused(_ request: PushRequest, _ refusal: AppleRefusal) {
        guard let device = pushes[request.apnsID]?.device else { return fail("only stored pushes are sent", request) }
        pushes[request.apnsID]?.refusals.insert(refusal)
        refusals[device, default: []].insert(refusal)
        lastRefusal[device] = refusal
        world.log("Apple refused it: \(refusal.name)", of: pushes[request.apnsID]?.message)
    }

    func lost(_ request: PushRequest, _ reason: String) {
        pushes[request.apnsID]?.hasArrived = true
        world.log("Apple dropped it: \(reason)", of: pushes[request.apnsID]?.message)
    }

    // MARK: What people saw

    /// The phone lost its files.
    func lostContainer(_ phone: Int) { badges[phone] = 0...0 }

    func badge(of phone: Int) -> ClosedRange<Int> { badges[phone] ?? 0...0 }

    /// A logout begins, which sets the badge to 0 at some time.
    func mayResetBadge(_ phone: Int) { badges[phone] = 0...badge(of: phone).upperBound }

    /// A logout ended. It certainly set the badge to 0 unless nobody was logged in, or the app was killed before.
    func resetBadge(on phone: Phone, isCertain: Bool, before: Int) {
        let (left, most) = (phone.badgeOnDisk, badge(of: phone.number).upperBound)
        let counted = isCertain ? max(0, most - before) : highestBadges[phone.number] ?? 0
        if left > counted {
            fail("a logout sets the badge to 0", nil, "phone \(phone.number): \(left), not at most \(counted)")
        }
        badges[phone.number] = left...(isCertain ? left : max(left, most))
    }

    /// A failure of the power lost changes of the count, which isn't synced: additions, or its last reset. What is shown next may
    /// still be the last number.
    func lostCount(on phone: Phone) {
        let (left, highest) = (phone.badgeOnDisk, highestBadges[phone.number] ?? 0)
        if left > highest { fail("a failure of the power adds nothing to the badge", nil, "\(left), not \(highest)") }
        badges[phone.number] = left...max(left, badge(of: phone.number).upperBound)
    }

    func showed(
        _ content: UNNotificationContent, for request: PushRequest, on phone: Phone, _ ending: Phone.Ending,
        wasThere: Bool
    ) {
        guard let push = pushes[request.apnsID], let message = messages[push.message] else {
            return fail("only stored pushes are shown", request)
        }
        let number = message.number
        pushes[request.apnsID]?.hasArrived = true
        guard ending != .killed else {
            // It may have been recorded already, and counted.
            if opened[phone.number, default: []].insert(number).inserted {
                doubtful[phone.number, default: []].insert(number)
                count(message, on: phone, isCertain: false)
            }
            return world.log("phone \(phone.number) showed the wire's text, since its extension was killed", of: number)
        }
        guard let sealed = SealedNotification(userInfo: content.userInfo) else {
            return fail("the extension decides what is shown", number, content.body)
        }
        if let reason = sealed.reason {
            world.log("phone \(phone.number) showed the safe default: \(reason)", of: number)
            guard !isExplained(reason, push, message, on: phone, ending) else { return }
            return fail("a message that isn't shown has a true reason", number, "phone \(phone.number): \(reason)")
        }
        let isLoud = content.sound != nil
        world.log("phone \(phone.number) showed it\(isLoud ? "" : " silently")", of: number)
        guard content.body == message.content.alert.body else {
            return fail("the sender's text is shown", number, content.body)
        }
        if !phone.accounts.contains(where: { message.user == nil || message.user == $0 }) {
            fail(
                "a message is shown only to its account", number,
                "phone \(phone.number) belongs to \(phone.accounts.sorted())")
        }
        if !phone.trusts(message.sender) { fail("no message of a revoked sender is shown", number) }
        if let expires = message.expires, Timestamp.now().seconds(since: expires) > 600 {
            fail("no message is shown after its time", number)
        }
        if isLoud, !loud[phone.number, default: []].insert(number).inserted {
            fail("no message is loud twice", number, "phone \(phone.number)")
        }
        if !isLoud, !opened[phone.number, default: []].contains(number) {
            fail("a message is loud when it is shown first", number, "phone \(phone.number)")
        }
        let isFirst = opened[phone.number, default: []].insert(number).inserted
        let wasDoubtful = doubtful[phone.number, default: []].remove(number) != nil
        if isFirst { count(message, on: phone, isCertain: ending == .finished) }
        if isFirst || wasDoubtful && content.badge != nil {
            checkBadge(content, of: message, on: phone)
        } else if content.badge != nil, message.content.badgeIncrement != nil {
            fail("a repeat leaves the badge alone", number, "phone \(phone.number)")
        }
    }

    /// Adds a message to the badge's count.
    private func count(_ message: Message, on phone: Phone, isCertain: Bool) {
        guard let increment = message.content.badgeIncrement else { return }
        let before = badge(of: phone.number)
        badges[phone.number] =
            (before.lowerBound + (isCertain && !phone.mayResetBadge ? increment : 0))...(before.upperBound + increment)
        highestBadges[phone.number] = max(highestBadges[phone.number] ?? 0, before.upperBound + increment)
    }

    private func checkBadge(_ content: UNNotificationContent, of message: Message, on phone: Phone) {
        guard message.content.badgeIncrement != nil, let possible = badges[phone.number] else { return }
        // A count that couldn't be written stays as it is.
        guard let badge = content.badge?.intValue else {
            if !phone.isDiskFull { fail("a message that counts changes the badge", message.number) }
            return
        }
        if !possible.contains(badge) {
            fail("the badge is the sum of what was shown", message.number, "\(badge), not \(possible)")
        }
        badges[phone.number] = (phone.mayResetBadge ? 0 : min(phone.badgeOnDisk, badge))...badge
    }

    private func isExplained(
        _ reason: OpenError, _ push: Push, _ message: Message, on phone: Phone, _ ending: Phone.Ending
    ) -> Bool {
        switch reason {
        case .unknownRecipient:
            // A restored outbox, or one that wasn't told of a logout, has keys that the phone has given up.
            phone.hasGivenUpKey(of: push.envelope)
        case .replayed:
            opened[phone.number, default: []].contains(message.number)
                // A new ledger begins with the phone's clock, which may have been ahead then.
                || push.storedAt <= phone.floor.advanced(bySeconds: 1)
        case .ledgerUnavailable: ending == .diskFailed
        case .expired:
            message.expires.map { Timestamp.now().seconds(since: $0) > 600 }
                ?? (world.plan.configuration.keepsRetiredKeys < 30)
        case .unknownSender: !phone.trusts(message.sender) || world.hasRotatedSender
        case .tooOld: message.storedAt.map { Timestamp.now().seconds(since: $0) > 30 * 86_400 - 60 } ?? false
        default: false
        }
    }

    func withdrew(_ result: Result<OpenedContent?, OpenError>, for request: PushRequest, on phone: Phone) {
        guard let push = pushes[request.apnsID], let message = messages[push.message] else {
            return fail("only stored pushes are opened", request)
        }
        pushes[request.apnsID]?.hasArrived = true
        switch result {
        case .success(let content?):
            world.log("phone \(phone.number) withdrew", of: message.number)
            opened[phone.number, default: []].insert(message.number)
            guard case .thread(let thread, _) = content.content.withdrawal?.target else { return }
            let left = phone.center.notifications.filter { notification in
                guard let sealed = SealedNotification(userInfo: notification.request.content.userInfo) else {
                    return false
                }
                // ContentParts 21.5: at least the same sender's.
                return sealed.sender == content.sender && notification.request.content.threadIdentifier == thread
                    && (sealed.sent ?? content.sent) < content.sent
            }
            if !left.isEmpty { fail("a withdrawal removes what it names", message.number, "phone \(phone.number)") }
        case .success(nil): fail("a withdrawal is opened by the app", message.number)
        case .failure(let reason):
            world.log("phone \(phone.number) didn't withdraw: \(reason)", of: message.number)
            if !isExplained(reason, push, message, on: phone, .finished) {
                fail("a withdrawal that isn't carried out has a true reason", message.number, "\(reason)")
            }
        }
    }

    // MARK: The end

    /// Whether a message was shown on a phone.
    func hasShown(_ number: Int, on phone: Int) -> Bool { opened[phone, default: []].contains(number) }

    /// No push is sent once its key may be gone, or after a month.
    private func hasExpired(_ push: Push, at now: Timestamp = .now()) -> Bool {
        let days = Int64(min(30, world.plan.configuration.keepsRetiredKeys))
        let end = push.storedAt.advanced(bySeconds: days * 86_400)
        return min(messages[push.message]?.expires ?? end, end) <= now
    }

    /// What Apple accepted has reached its phone, unless that is offline.
    func checkArrivals() {
        for push in pushes.values.sorted(by: { $0.message < $1.message })
        where push.acceptedCount > 0 && !push.hasArrived {
            fail("a phone shows what it gets", push.message, push.device)
        }
    }

    /// Compares the outbox's report on a message with what happened, once nothing goes wrong anymore.
    func check(_ report: MessageReport?, on number: Int) {
        guard messages[number]?.isForgotten == false else { return }
        let own = own(number)
        guard let report else {
            let isOld = messages[number]?.storedAt.map { Timestamp.now().seconds(since: $0) > 28 * 86_400 } ?? true
            if !own.isEmpty, !isOld { fail("a stored message has a report", number) }
            return
        }
        check(report.outcomes, enqueuedCount: report.enqueuedCount, on: number)
        if let count = report.outcomes["waiting"], own.count(where: mayWait) < count {
            fail("nothing waits for ever", number)
        }
    }

    /// Compares the outcomes of messages that will soon be deleted with what happened.
    func checkOldest(_ outcomes: (MessageID) -> [MessageOutcome]) {
        let oldest = open.prefix { number in
            messages[number]?.firstStoredAt.map { Timestamp.now().seconds(since: $0) > 29 * 86_400 } ?? true
        }
        guard !oldest.isEmpty else { return }
        let known = oldest.filter { number in
            guard let message = messages[number], !message.isForgotten else { return false }
            let counts = Counts(message.id.map(outcomes) ?? [])
            guard counts.enqueued > 0 else { return false }
            check(counts.ends, enqueuedCount: counts.enqueued, on: number)
            return true
        }
        open.replaceSubrange(..<oldest.endIndex, with: known)
    }

    /// What the outbox has counted of one message.
    private struct Counts {
        private(set) var enqueued = 0
        private(set) var ends: [String: Int] = [:]
        var waiting: Int { enqueued - ends.values.reduce(0, +) }

        init(_ rows: [MessageOutcome]) {
            for row in rows where row.count > 0 {
                if row.outcome == "enqueued" {
                    enqueued += row.count
                } else {
                    ends[row.outcome, default: 0] += row.count
                }
            }
        }
    }

    private func check(_ outcomes: [String: Int], enqueuedCount: Int, on number: Int) {
        let own = own(number)
        if enqueuedCount != own.count {
            fail("a report counts what was stored", number, "\(enqueuedCount) of \(own.count)")
        }
        for (outcome, count) in outcomes.sorted(by: { $0.key < $1.key }) where outcome != "waiting" {
            let possible = outcome == "purged" ? purgeable[number] ?? 0 : own.count { mayHaveEnded($0, as: outcome) }
            if possible < count {
                fail(Self.promise(about: outcome), number, "\(outcome) for \(count) pushes, possible for \(possible)")
            }
        }
    }

    private static func promise(about outcome: String) -> String {
        switch outcome {
        case "accepted": "only what Apple accepted is reported as accepted"
        case "expired": "only what has expired is reported as expired"
        case "purged": "only what the operator purged is reported as purged"
        default: "a report's reason is true"
        }
    }

    private func mayHaveEnded(_ push: Push, as outcome: String) -> Bool {
        let words = outcome.split(separator: ":", maxSplits: 1)
        let (end, name) = (words.first ?? "", words.dropFirst().first ?? "")
        func isKnown(_ refusals: Set<AppleRefusal>?, _ meaning: AppleRefusal.Meaning) -> Bool {
            refusals?.contains { $0.name == name && $0.meaning == meaning } ?? false
        }
        return switch end {
        case "accepted": push.acceptedCount > 0
        // The clock may have been ahead then, and set back since.
        case "expired": hasExpired(push, at: .now().advanced(bySeconds: 600))
        case "discarded": discardedCount > 0
        case "dropped": isKnown(refusals[push.device], .gone)
        case "refused":
            isKnown(refusals[push.device], .addressRefused)
                || isKnown(push.refusals, .unknown) && push.leaseCount >= AppleRefusal.unknownAttempts
        default: false
        }
    }

    /// A phone may have registered a token again that Apple no longer knows. Its pushes wait behind the oldest, until that
    /// expires.
    private func mayWait(_ push: Push) -> Bool {
        guard lastRefusal[push.device]?.meaning == .gone else { return false }
        for id in pushesOfDevice[push.device, default: []] {
            if let older = pushes[id], !lostPushes.contains(id), !hasExpired(older) { return true }
            if id == push.apnsID { return false }
        }
        return false
    }

    /// Compares the sums of all reports with what the operator and the devices took.
    func checkSums(_ outcomes: [String: Int]) {
        for (outcome, most) in [("purged", purgedCount), ("discarded", discardedCount)] {
            let count = outcomes[outcome] ?? 0
            if count > most { fail("no more is reported as \(outcome) than was", nil, "\(count), not \(most)") }
        }
    }
}
