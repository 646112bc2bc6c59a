internal import Hummingbird
internal import PushCore
internal import PushOutbox
internal import SealedPush

/// A back end's lists and counts: devices, the outbox, receipts. Contains public names only.
struct ListRoutes: Sendable {
    let outbox: Outbox
    /// Counting is slow in a large outbox and delays messages.
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

    /// Returns one user's devices, or all devices page by page.
    func devices(_ request: Request, _ context: ServerContext) async throws -> Response {
        let query = context.query
        let limit = try Self.number(query["limit"], "limit", 1...1_000) ?? 100
        let after = query["after"].flatMap(DeviceName.init(parsing:))
        guard after != nil || query["after"] == nil
        else { throw Problem.malformed("`after` is not a valid device name") }
        if let text = query["user"] {
            guard let user = UserName(parsing: text)
            else { throw Problem.malformed("`user` is not a valid name; expected 1 to 128 bytes of visible text") }
            return .json(.object(try await outbox.listing(of: user).json))
        }
        let listing = try await outbox.listing(after: after, limit: limit)
        let devices = listing.devices
        var members = listing.json
        if devices.count == limit, let last = devices.last { members["next"] = .string(last.name.description) }
        return .json(.object(members))
    }

    func removeDevice(_ request: Request, _ context: ServerContext) async throws -> Response {
        guard let name = context.part("device").flatMap(DeviceName.init(parsing:))
        else { throw Problem.malformed("the path doesn't contain a valid device name") }
        return .json(["discarded": .count(try await outbox.remove(name))])
    }

    func status(_ request: Request, _ context: ServerContext) async throws -> Response {
        .json(try await counts.value(.outbox))
    }

    func receipts(_ request: Request, _ context: ServerContext) async throws -> Response {
        let days = try Self.number(context.query["days"], "days", 1...30) ?? 30
        return .json(try await counts.value(.receipts(days: days)))
    }

    private static func number(_ text: String?, _ name: String, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text else { return nil }
        guard let number = Int(text), range.contains(number)
        else { throw .malformed("`\(name)` must be \(range.lowerBound) to \(range.upperBound)") }
        return number
    }
}
