/// The outcomes of a message.
public struct MessageReport: Hashable, Sendable {
    /// The number of devices that the message was enqueued for.
    public private(set) var enqueuedCount = 0
    /// Devices by outcome: `waiting`, `accepted`, `expired`, `purged`, `discarded`, `dropped:REASON`, `refused:REASON`.
    public private(set) var outcomes: [String: Int] = [:]
    /// The outcome for each device that is still registered; `nil` for a message to everyone.
    public private(set) var devices: [DeviceName: String]? = [:]

    /// Creates a report, or returns `nil` if the message is unknown.
    init?(_ rows: [MessageOutcome]) {
        var ended: [Int64: (name: String?, outcome: String?)] = [:]
        for row in rows {
            guard row.outcome != Tally.enqueued else {
                enqueuedCount += row.count
                ended[row.device, default: (row.name, nil)].name = row.name
                continue
            }
            guard row.count > 0 else { continue }
            outcomes[row.outcome, default: 0] += row.count
            ended[row.device] = (row.name, row.outcome)
        }
        guard enqueuedCount > 0 else { return nil }
        let waitingCount = enqueuedCount - outcomes.values.reduce(0, +)
        if waitingCount > 0 { outcomes[Tally.waiting] = waitingCount }
        if ended[0] != nil { devices = nil }
        for (name, outcome) in ended.values {
            if let name = name.flatMap(DeviceName.init(parsing:)) { devices?[name] = outcome ?? Tally.waiting }
        }
    }
}
