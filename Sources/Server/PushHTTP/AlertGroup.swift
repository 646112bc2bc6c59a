internal import PushCore
internal import SealedPush

/// A group of alerts in the webhook of Alertmanager (version 4) or Grafana, which adds members to it. Reads what a person
/// needs, and ignores the rest.
struct AlertGroup {
    /// The group's identity, the same in all its webhooks.
    let key: String
    /// Whether none of its alerts is firing anymore.
    let isResolved: Bool
    private let name: String
    /// The firing alerts, or all if the group is resolved.
    private let alerts: [Alert]
    /// The number of alerts that the sender left out.
    private let truncatedCount: Int

    fileprivate enum Status: String, CaseIterable {
        case firing
        case resolved
    }

    fileprivate struct Alert {
        let isResolved: Bool
        /// A hash of the alert and its start: another start is another firing.
        let identity: String
        let text: String?
    }

    init(_ members: consuming JSONMembers) throws(Problem) {
        let status = members.value(of: "status")?.json.string.flatMap(Status.init(untrusted:))
        guard let key = members.value(of: "groupKey")?.json.string, let status,
            case .array(let values)? = members.value(of: "alerts")?.json, !values.isEmpty
        else { throw Self.foreign }
        var alerts: [Alert] = []
        for value in values {
            guard let alert = Alert(value) else { throw Self.foreign }
            alerts.append(alert)
        }
        let firing = alerts.filter { !$0.isResolved }
        (self.key, isResolved) = (key, status == .resolved)
        self.alerts = isResolved || firing.isEmpty ? alerts : firing
        truncatedCount = members.value(of: "truncatedAlerts")?.json.integer.map { Int(clamping: max(0, $0)) } ?? 0
        let texts = JSONTexts(members.value(of: "commonAnnotations")?.json)
        name = texts["summary"] ?? JSONTexts(members.value(of: "commonLabels")?.json)["alertname"] ?? "Alert"
    }

    private static var foreign: Problem {
        .malformed(
            "this is not a webhook of Alertmanager; expected `groupKey`, `status`, and `alerts` with `labels` and `startsAt`"
        )
    }

    /// The same texts for each webhook about the same firing. An alert that starts to fire later makes another list.
    var identity: [String] { [key, isResolved ? "resolved" : "firing"] + Set(alerts.map(\.identity)).sorted() }

    var title: String {
        let (count, isOverflown) = alerts.count.addingReportingOverflow(truncatedCount)
        let many = count > 1 && !isOverflown ? "\(name) (\(count))" : name
        return isResolved ? "Resolved: \(name)" : many
    }

    /// The alerts' texts, each once, up to the length of a push; `nil` if there is none beside the title.
    var text: String? {
        var lines: [String] = []
        var byteCount = 0
        for case let line? in alerts.map(\.text)
        where !line.hasBytes(of: name) && !lines.contains(where: line.hasBytes) {
            lines.append(line)
            byteCount += line.utf8.count
            guard byteCount < PayloadLimit.byteCount else { break }
        }
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }
}

extension AlertGroup.Alert {
    /// Returns `nil` unless the alert has labels and a start.
    fileprivate init?(_ value: JSONValue) {
        guard case .object(let members) = value, case .object(let labels)? = members["labels"],
            let start = members["startsAt"]?.string
        else { return nil }
        isResolved = members["status"]?.string.flatMap(AlertGroup.Status.init(untrusted:)) == .resolved
        let id = members["fingerprint"]?.string.map(JSONValue.string) ?? .object(labels)
        identity = Hex.encode(BLAKE2b.hash(JSONValue.array([id, .string(start)]).bytes, byteCount: 16))
        let (own, texts) = (JSONTexts(members["labels"]), JSONTexts(members["annotations"]))
        text = texts["description"] ?? texts["message"] ?? texts["summary"] ?? own.list(without: "alertname")
    }
}

/// The members of an object that are texts a person can see.
private struct JSONTexts {
    private let members: [String: JSONValue]

    init(_ value: JSONValue?) {
        if case .object(let members)? = value { self.members = members } else { members = [:] }
    }

    subscript(_ name: String) -> String? {
        members[name]?.string.flatMap { VisibleText.isVisible($0) ? $0 : nil }
    }

    /// Returns the members in the order of their names, as one line; `nil` if there are none.
    func list(without name: String) -> String? {
        let texts = members.keys.sorted().filter { $0 != name }.compactMap { key in self[key].map { "\(key): \($0)" } }
        return texts.isEmpty ? nil : texts.joined(separator: ", ")
    }
}
