internal import PushOutbox
internal import SealedPush

extension ReceiptReport {
    /// What an operator reads.
    func lines(_ dayCount: Int) -> [String] {
        let total = total
        guard total.shownCount + total.refusedCount > 0 else {
            return ["No receipts in \(dayCount) days. Messages ask for them where they are sent with --receipts URL."]
        }
        var lines = [
            "devices   \(Progress.number(deviceCount)) of \(Progress.number(registeredDeviceCount)) registered; \(Progress.number(failingDeviceCount)) had failures",
            "shown     \(Progress.number(total.shownCount)) of \(Progress.number(total.acceptedCount)) that APNs took\(total.speedWords)"
                + " (not every message need have asked for a receipt)",
            "failed    \(total.failures.isEmpty ? "0" : total.failures.words)",
        ]
        if !failingDevices.isEmpty { lines.append("  devices \(failingDevices.words)") }
        if total.refusedCount > 0 { lines.append("refused   \(total.refusals.words)") }
        lines.append("")
        lines += days.suffix(Self.shownDayCount).map(\.line)
        let hints = hints
        if !hints.isEmpty { lines += [""] + hints }
        return lines
    }

    var json: JSONValue {
        [
            "devices": .integer(Int64(deviceCount)), "failingDevices": .integer(Int64(failingDeviceCount)),
            "failingDevicesByReason": .counts(failingDevices),
            "registeredDevices": .integer(Int64(registeredDeviceCount)), "total": total.json,
            "days": .array(days.map(\.json)), "hints": .array(hints.map { .string($0) }),
        ]
    }

    /// What to do about what stands out in the last seven days.
    var hints: [String] {
        guard let today = days.last?.start else { return [] }
        let isRecent = { (day: ReceiptDay) in today.seconds(since: day.start) < 7 * 86_400 }
        let recent = Self.sum(days.filter(isRecent))
        let before = Self.sum(
            days.filter { !isRecent($0) && today.seconds(since: $0.start) < 14 * 86_400 })
        var hints = recent.failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.compactMap { code, count in
            let rises = count >= 10 && count > 2 * (before.failures[code] ?? 0) && before.shownCount > 0
            let isMuch = count * 100 >= recent.shownCount + recent.failedCount
            guard rises || isMuch else { return nil as String? }
            let devices = failingDevices[code, default: 0]
            let whose = devices == 1 ? "of one device" : "of \(Progress.number(devices)) devices"
            return "hint: \(code)\(rises ? " rises" : ""), \(whose): \(ReasonWords.hint(code))"
        }
        for (code, count) in recent.refusals.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) })
        where count * 100 >= max(1, recent.shownCount) {
            hints.append("hint: receipts are refused, \(code): \(ReasonWords.refusalHint(code))")
        }
        return hints
    }

    private static let shownDayCount = 14
}

extension ReceiptDay {
    fileprivate var line: String {
        let failed = failures.isEmpty ? "" : "; failed: \(failures.words)"
        return "\(TimeText.day(start))  shown \(Progress.number(shownCount))\(failed)"
    }

    fileprivate var speedWords: String {
        guard shownCount > 0 else { return "" }
        let parts = [Duration.seconds(1), .seconds(5)].map { limit in
            "\(100 * shownWithin[limit, default: 0] / shownCount) % within \(limit.components.seconds) s"
        }
        return "; \(parts.joined(separator: ", "))"
    }

    fileprivate var json: JSONValue {
        [
            "start": .integer(start.secondsSince1970), "accepted": .integer(Int64(acceptedCount)),
            "shown": .integer(Int64(shownCount)), "repeated": .integer(Int64(repeatedCount)),
            "failures": .counts(failures), "refused": .counts(refusals),
            "shownWithinMilliseconds": .counts(
                Dictionary(
                    uniqueKeysWithValues: shownWithin.map { limit, count in
                        let (seconds, attoseconds) = limit.components
                        return (String(seconds * 1_000 + attoseconds / 1_000_000_000_000_000), count)
                    })),
        ]
    }
}

/// What an operator does about each reason.
enum ReasonWords {
    static func refusalHint(_ code: String) -> String {
        switch ReceiptError(rawValue: code) {
        case .rejected: "they are forged, or `receipts listen` lacks the --from of a sender that asks for them"
        case .tooOld, .clock: "clocks of devices are wrong, or this machine's is"
        case .unknownVersion: "a later version of the app's module makes them: update the server"
        case .wrongSize, .malformed: "something else than the app's module posts to this address"
        case nil:
            "a single device sends more than 1,000 in a day: its key is misused, or the app counts one push many times"
        }
    }

    static func hint(_ code: String) -> String {
        guard let reason = OpenError(rawValue: code) else { return "a reason of a later version of the app's module" }
        return switch reason {
        case .malformed: "pushes without an envelope reach the app: another server of yours, or a carrier, sends them"
        case .unknownRecipient:
            "it is sealed to keys that devices no longer have: `sealedpush keys doctor`, and let the app hand in its record"
        case .locked: "devices were restarted and not unlocked yet; nothing to do"
        case .keysUnavailable: "the app's key store fails: look at the keychain access group of its last version"
        case .unknownSender: "the app does not know the sender: publish a sender set, or wait for the app's update"
        case .anonymousNotAllowed: "somebody seals without a sender; nobody of yours should"
        case .rejected:
            "another sender, topic or key than the device expects, or alteration on the way: `sealedpush doctor`"
        case .malformedContent: "a sender seals what is no content: look at its version"
        case .topic: "content for another app is sealed to this one's keys: look at --topic"
        case .keyRetired: "a sender still seals to keys that were replaced: tell all servers the newest records"
        case .clock: "a server's clock is ahead"
        case .tooOld: "content is more than 30 days old when it arrives: look at the server's clock and `outbox status`"
        case .expired: "pushes come after their content's expiry: give content more time"
        case .replayed:
            "pushes come twice under other IDs: a server sends them without apns-id and apns-collapse-id, or somebody replays"
        case .ledgerUnavailable:
            "devices can't write to the shared container: disks are full, the app group is wrong, or a ledger is spoiled"
        case .outOfTime: "devices did not come to open in time: look at the stages before"
        }
    }
}
