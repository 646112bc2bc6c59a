package import PushSender
package import SealedPush

extension RegisteredDevice {
    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "device": .string(name.description), "user": .string(user.description),
            "topic": .string(topic.description), "carrier": .string(address.carrier.description),
        ]
        switch address {
        case .active: members["address"] = "active"
        case .disabled(_, _, let reason):
            members["address"] = "refused"
            members["reason"] = .string(reason)
        case .none(_, let reason):
            members["address"] = "none"
            members["reason"] = reason.map { .string($0) }
        }
        if case .enrolled(let enrolled) = keys {
            members["enrollment"] = .string(enrolled.enrollment.description)
            members["counter"] = .integer(Int64(clamping: enrolled.record.counter))
            members["expires"] = .integer(enrolled.record.expires.secondsSince1970)
            members["unproven"] = .count(enrolled.unproven.count)
        }
        members["recipient"] = keys.recipient.map { .string($0.description) }
        return .object(members)
    }
}

extension Carrier {
    /// Apple's environment, or another carrier's name.
    package var shown: String { environment?.rawValue ?? description }
}
