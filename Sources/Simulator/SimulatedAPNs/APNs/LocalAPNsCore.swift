internal import Foundation
internal import NIOCore
internal import NIOHTTP2
internal import PushCore
internal import SealedPush

/// The state shared by all connections of one server. Thread-safe.
final class LocalAPNsCore: Sendable {
    let configuration: LocalAPNsConfiguration
    let tokens: ProviderTokens
    let registry: DeviceRegistry
    let log: APNsLog
    /// The page; nil if there is none.
    let page: WatchPage?
    private let dice: Locked<FaultDice>
    private let counted = Locked(Counts())
    private let connections = Locked(Connections())

    struct Counts: Codable {
        var connections = 0
        var requests = 0
        var accepted = 0
        var lostResponses = 0
        var resets = 0
        var refusals: [String: Int] = [:]
        var outcomes: [String: Int] = [:]
    }

    struct Connections {
        var channels: [Int: any Channel] = [:]
        var nextNumber = 1
    }

    init(_ configuration: LocalAPNsConfiguration, tokens: ProviderTokens, registry: DeviceRegistry, log: APNsLog) {
        self.configuration = configuration
        self.tokens = tokens
        self.registry = registry
        self.log = log
        page = configuration.page.map { _ in WatchPage() }
        dice = Locked(FaultDice(configuration.faults, seed: configuration.seed))
    }

    var faults: APNsFaults {
        get { dice.withLock { $0.faults } }
        set { dice.withLock { $0.faults = newValue } }
    }

    var counts: Counts { counted.withLock { $0 } }

    /// Registers a connection and returns its number, or nil if there are too many.
    func open(_ channel: any Channel) -> Int? {
        let limit = configuration.connectionLimit
        let number: Int? = connections.withLock { connections in
            guard connections.channels.count < limit else { return nil }
            defer { connections.nextNumber += 1 }
            connections.channels[connections.nextNumber] = channel
            return connections.nextNumber
        }
        guard let number else {
            note("connection-refused", connection: nil)
            return nil
        }
        counted.withLock { $0.connections += 1 }
        note("connection-opened", connection: number)
        return number
    }

    /// Removes a connection. May be called more than once.
    func close(_ number: Int) {
        let wasOpen = connections.withLock { $0.channels.removeValue(forKey: number) } != nil
        if wasOpen { note("connection-closed", connection: number) }
    }

    /// Logs an event.
    func note(_ event: String, connection: Int?, _ members: @autoclosure () -> [String: JSONValue] = [:]) {
        guard log.isOn else { return }
        var members = members()
        if let connection { members["connection"] = .integer(Int64(connection)) }
        log.append(event: event, at: configuration.now(), members)
    }

    /// Sends GOAWAY to every connection.
    func goAway(_ reason: LocalAPNsReason?) {
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(GoAwayEvent(reason: reason)) }
    }

    var channels: [any Channel] { connections.withLock { Array($0.channels.values) } }

    /// The decision about one request.
    struct Handled {
        var apnsID: String
        var refusal: LocalAPNsRefusal?
        var fault: FaultDecision
    }

    func handle(
        _ request: ProviderRequest, identity: inout ConnectionIdentity, connection: Int, stream: HTTP2StreamID
    ) -> Handled {
        let now = configuration.now()
        // An invalid ID isn't echoed.
        let id = request.apnsID ?? UUID().uuidString.lowercased()
        var handled = Handled(apnsID: id, fault: FaultDecision())
        var outcome: DeliveryOutcome?
        var keyID: String?
        do throws(LocalAPNsRefusal) {
            let token = try request.deviceToken()
            keyID = try identity.check(request.headers["authorization"], tokens: tokens, at: now / 1_000).keyID
            let (notification, bundleID) = try request.notification(id: id, at: now)
            let device = try registry.find(token, bundleID: bundleID)
            handled.fault = dice.withLock { $0.decide() }
            if let reason = handled.fault.refusal { throw LocalAPNsRefusal(reason) }
            outcome = registry.deliver(notification, to: device, handled.fault)
        } catch { handled.refusal = error }
        count(handled, outcome)
        if let page {
            let reason = handled.refusal?.reason.rawValue ?? (handled.fault.isDelivered ? nil : "dropped by a fault")
            page.requested(device: registry.name(of: String(request.path.suffix(64))), reason: reason)
        }
        note(
            "request", connection: connection,
            request.logged(detail: log.detail).merging([
                "stream": .integer(Int64(Int(stream))), "kid": .optional(keyID),
                "status": .integer(Int64(handled.refusal?.reason.status ?? 200)),
                "reason": .optional(handled.refusal?.reason.rawValue), "apns-id": .string(id),
                "outcome": .optional(outcome?.rawValue), "fault": .optional(handled.fault.name),
            ]) { $1 })
        return handled
    }

    private func count(_ handled: Handled, _ outcome: DeliveryOutcome?) {
        counted.withLock { counts in
            counts.requests += 1
            if let outcome { counts.outcomes[outcome.rawValue, default: 0] += 1 }
            if let refusal = handled.refusal {
                counts.refusals[refusal.reason.rawValue, default: 0] += 1
                return
            }
            switch handled.fault.answer {
            case .given: counts.accepted += 1
            case .lost: counts.lostResponses += 1
            case .reset: counts.resets += 1
            }
        }
    }
}

extension ProviderRequest {
    /// Returns the request's log members, without the provider token, because anyone who reads a token could send with it.
    fileprivate func logged(detail: APNsLogDetail) -> [String: JSONValue] {
        let shown = headers.filter { $0.key != "authorization" }
        var members: [String: JSONValue] = [
            "method": .string(method), "path": .string(path), "headers": .object(shown.mapValues { .string($0) }),
            "bytes": .integer(Int64(bodyByteCount)),
        ]
        if !repeated.isEmpty {
            let lines = repeated.map { name, value in name == "authorization" ? name : "\(name): \(value)" }
            members["repeated-headers"] = .array(lines.map { .string($0) })
        }
        if detail == .payloads { members["payload"] = .string(String(buffer: body)) }
        return members
    }
}

extension JSONValue {
    fileprivate static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
}
