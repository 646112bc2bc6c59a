internal import HTTPTypes
internal import Hummingbird
internal import PushCore
package import PushOutbox
internal import PushSender
package import SealedPush

/// What a back end looks at: devices, the outbox, receipts. Public names only.
struct ListRoutes: Sendable {
    let outbox: Outbox
    /// Counting takes long in a large outbox, and takes time from the messages.
    private let counts: Cache<Count, JSONValue>

    private enum Count: Hashable {
        case outbox
        case receipts(days: Int)
    }

    init(outbox: Outbox, clock: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.outbox = outbox
        counts = Cache(clock: clock) { count in
            switch count {
            case .outbox: .object(try await outbox.status().json)
            case .receipts(let days): .object(try await outbox.receipts(days: days).json)
            }
        }
    }

    /// One user's, or all of them page by page.
    func devices(_ request: Request, _ context: ServerContext) async throws -> Response {
        let query = request.uri.queryParameters
        if let text = query["user"] {
            guard let user = UserName(parsing: String(text)) else {
                throw Problem.malformed("`user` is not a valid name: 1 to 128 bytes of visible text")
            }
            return .json(["devices": .array(try await outbox.devices(of: user).map(\.json))])
        }
        var after: DeviceName?
        if let text = query["after"] {
            after = DeviceName(parsing: String(text))
            guard after != nil else { throw Problem.malformed("`after` is not the name of a device") }
        }
        let limit = try Self.number(query["limit"], "limit", 1...1_000) ?? 100
        let devices = try await outbox.devices(after: after, limit: limit)
        var members: [String: JSONValue] = ["devices": .array(devices.map(\.json))]
        if devices.count == limit, let last = devices.last { members["next"] = .string(last.name.description) }
        return .json(.object(members))
    }

    func removeDevice(_ request: Request, _ context: ServerContext) async throws -> Response {
        guard let name = context.part("device").flatMap(DeviceName.init(parsing:)) else {
            throw Problem.malformed("the path has no valid device name")
        }
        return .json(["discarded": .integer(Int64(try await outbox.remove(name)))])
    }

    func status(_ request: Request, _ context: ServerContext) async throws -> Response {
        .json(try await counts.value(.outbox))
    }

    func receipts(_ request: Request, _ context: ServerContext) async throws -> Response {
        let days = try Self.number(request.uri.queryParameters["days"], "days", 1...30) ?? 30
        return .json(try await counts.value(.receipts(days: days)))
    }

    private static func number(
        _ text: Substring?, _ name: String, _ range: ClosedRange<Int>
    ) throws(Problem) -> Int? {
        guard let text else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .malformed("\(name) is \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

// MARK: - As JSON, here and where the command prints it

extension RegisteredDevice {
    var json: JSONValue {
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
        switch keys {
        case .unverified(let recipient): members["recipient"] = .string(recipient.description)
        case .enrolled(let enrolled):
            members["enrollment"] = .string(enrolled.enrollment.description)
            members["counter"] = .integer(Int64(clamping: enrolled.record.counter))
            members["expires"] = .integer(enrolled.record.expires.secondsSince1970)
            members["unproven"] = .integer(Int64(enrolled.unproven.count))
            let recipient = enrolled.record.recipients.first(where: enrolled.proven.contains)
            members["recipient"] = recipient.map { .string($0.description) }
        }
        return .object(members)
    }
}

extension OutboxStatus {
    /// All counts, by name; the senders apart, whose names a keyring has.
    package var json: [String: JSONValue] {
        [
            "devices": .integer(Int64(deviceCount)), "reachableDevices": .integer(Int64(reachableDeviceCount)),
            "waiting": .integer(Int64(waitingCount)), "dueDevices": .integer(Int64(queues.due)),
            "leasedDevices": .integer(Int64(queues.leased)), "leasedByHost": .counts(leasedByHost),
            "putOffDevices": .integer(Int64(queues.delayed)),
            "waitingDevices": .counts(
                Dictionary(
                    waitingDevices.map { ($0.key.environment?.rawValue ?? $0.key.description, $0.value) },
                    uniquingKeysWith: +)),
            "waitingByAge": .array(
                waitingByAge.map { age in
                    [
                        "olderThanSeconds": .integer(age.olderThan.components.seconds),
                        "count": .integer(Int64(age.count)),
                    ]
                }),
            "nextDue": nextDue.map { .integer($0.secondsSince1970) } ?? .null, "refused": .counts(deadLetters),
            "outcomes": .counts(outcomes), "fileBytes": .integer(Int64(fileByteCount)),
        ]
    }
}

extension ReceiptReport {
    package var json: [String: JSONValue] {
        [
            "devices": .integer(Int64(deviceCount)), "failingDevices": .integer(Int64(failingDeviceCount)),
            "failingDevicesByReason": .counts(failingDevices),
            "registeredDevices": .integer(Int64(registeredDeviceCount)), "total": total.json,
            "days": .array(days.map(\.json)),
        ]
    }
}

extension ReceiptDay {
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

extension JSONValue {
    package static func counts(_ counts: [String: Int]) -> JSONValue {
        .object(counts.mapValues { .integer(Int64($0)) })
    }
}
