internal import PushHTTP
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

    var jsonWithHints: JSONValue { .object(json.merging(["hints": .array(hints.map { .string($0) })]) { $1 }) }

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
}
