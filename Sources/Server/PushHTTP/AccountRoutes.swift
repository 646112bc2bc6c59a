internal import HTTPTypes
internal import Hummingbird
internal import PushCore
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// The back end's requests about its accounts: logins for their apps, a test message, and erasing a user.
struct AccountRoutes: Sendable {
    let outbox: Outbox
    let gate: PhoneGate
    let state: @Sendable () -> ServerState

    /// Returns a login for the app to present here. The back end requests it within the account's login.
    func logIn(_ request: Request, _ context: ServerContext) async throws -> Response {
        var reader = OrderReader(try await request.members())
        guard let user = try reader.user() else { throw Problem.malformed("there is no \"user\"") }
        let longest = Outbox.loginLifetime
        let seconds = try reader.optional(
            "seconds", "1 to \(longest) whole seconds (not milliseconds), which is an hour"
        ) {
            $0.integer.flatMap { (1...longest).contains($0) ? $0 : nil }
        }
        try reader.end("user and seconds")
        let end = Timestamp.now().advanced(bySeconds: seconds ?? 600)
        let token = try state().sender().login(of: user, until: end, issued: OutboxClock.system.now())
        return .json(["token": .string(token), "expires": .integer(end.secondsSince1970)])
    }

    /// Invalidates all logins of an account issued until now, for example after its phone was stolen.
    func endLogins(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try context.namedUser()
        return try await gate.accounts.run(user) {
            try await gate.endLogins(of: user)
            return Response(status: .noContent)
        }
    }

    /// Erases the data of a user who wants to be forgotten.
    func erase(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (user, keys) = (try context.namedUser(), try state().sender())
        // Waits for the account's request in progress.
        return try await gate.accounts.run(user) {
            try await gate.endLogins(of: user)
            let erased = try await outbox.erase(user, topic: keys.sealer.topic, receipts: keys.receipts.ids)
            return .json(["devices": .count(erased.deviceCount), "discarded": .count(erased.discardedCount)])
        }
    }

    /// Sends a fixed text to a user or device.
    func test(_ request: Request, _ context: ServerContext) async throws -> Response {
        var reader = OrderReader(try await request.members())
        let (user, device) = (try reader.user(), try reader.device())
        try reader.end("user and device")
        guard let audience = user.map(Audience.user) ?? device.map(Audience.device), user == nil || device == nil
        else { throw Problem.malformed("a test needs exactly one of `user` and `device`") }
        return try await outbox.sendTest(to: audience, from: state().sender().sealer)
    }
}
