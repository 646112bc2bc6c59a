internal import Foundation
internal import NIOCore
internal import NIOHTTP2
internal import PushCore
internal import SealedPush

/// What all connections of one server share. Safe from several threads.
final class LocalAPNsCore: Sendable {
    let configuration: LocalAPNsConfiguration
    let tokens: ProviderTokens
    let registry: DeviceRegistry
    let log: APNsLog
    private let checks: RequestChecks
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
        checks = RequestChecks()
        dice = Locked(FaultDice(configuration.faults, seed: configuration.seed))
    }

    var faults: APNsFaults {
        get { dice.withLock { $0.faults } }
        set { dice.withLock { $0.faults = newValue } }
    }

    var counts: Counts { counted.withLock { $0 } }

    /// The connection's number; nil where there are too many.
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

    /// Once or more.
    func close(_ number: Int) {
        let wasOpen = connections.withLock { $0.channels.removeValue(forKey: number) } != nil
        if wasOpen { note("connection-closed", connection: number) }
    }

    /// Into the log.
    func note(_ event: String, connection: Int?, _ members: [String: JSONValue] = [:]) {
        guard log.isOn else { return }
        var members = members
        if let connection { members["connection"] = .integer(Int64(connection)) }
        log.append(event: event, at: configuration.now(), members)
    }

    /// Tells every connection to end; returns how many there are.
    @discardableResult func goAway(_ reason: APNsReason?) -> Int {
        let channels = channels
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(GoAwayEvent(reason: reason)) }
        return channels.count
    }

    var channels: [any Channel] { connections.withLock { Array($0.channels.values) } }

    /// What is to be done about one request.
    struct Handled {
        var apnsID: String
        var refusal: APNsRefusal?
        var fault: FaultDecision
    }

    func handle(
        _ request: ProviderRequest, identity: inout ConnectionIdentity, random: inout SplitMix64, connection: Int,
        stream: HTTP2StreamID
    ) -> Handled {
        let now = configuration.now()
        var handled = Handled(apnsID: "", fault: FaultDecision())
        var outcome: DeliveryOutcome?
        var keyID: String?
        // What can't be an ID is not echoed.
        let given = (try? checks.apnsID(request)) ?? nil
        handled.apnsID = given ?? UUIDText.make(using: &random)
        do throws(APNsRefusal) {
            let token = try checks.checkRequestLine(request)
            let key = try identity.check(
                request.authorization, tokens: tokens, configuration: configuration, at: now / 1_000)
            keyID = key.keyID
            let (notification, bundleID) = try check(request, id: handled.apnsID, at: now)
            let device = try registry.find(token, bundleID: bundleID, at: now)
            handled.fault = dice.withLock { $0.decide() }
            if let reason = handled.fault.refusal { throw APNsRefusal(reason) }
            outcome = registry.deliver(notification, to: device, handled.fault)
        } catch { handled.refusal = error }
        count(handled, outcome)
        if let watcher = configuration.watcher {
            let reason = handled.refusal?.reason.rawValue ?? (handled.fault.isDelivered ? nil : "dropped by a fault")
            watcher(.requested(device: registry.name(of: request.path.suffix(64)), reason: reason))
        }
        if log.isOn {
            log.append(
                RequestLogEntry(
                    time: now, connection: connection, stream: Int(stream), request: request, keyID: keyID,
                    status: handled.refusal?.reason.status ?? 200, reason: handled.refusal?.reason.rawValue,
                    apnsID: handled.apnsID, outcome: outcome, fault: handled.fault.name))
        }
        return handled
    }

    /// Checks 5 to 15.
    private func check(
        _ request: ProviderRequest, id: String, at now: Int64
    ) throws(APNsRefusal) -> (APNsNotification, bundleID: String) {
        _ = try checks.apnsID(request)
        let type = try checks.pushType(request)
        let bundleID = try checks.bundleID(request, type)
        let priority = try checks.priority(request, type)
        let expiration = try checks.expiration(request)
        let collapseID = try checks.collapseID(request)
        try checks.checkPayload(request, type)
        let notification = APNsNotification(
            apnsID: id, pushType: type, priority: priority, expiration: expiration, collapseID: collapseID,
            payload: Data(request.bodyView), received: now)
        return (notification, bundleID)
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

extension FaultDecision {
    /// For the log.
    fileprivate var name: String? {
        if refusal != nil { return "refused" }
        switch answer {
        case .lost: return "lost-response"
        case .reset: return "reset"
        case .given: break
        }
        if !isDelivered { return "dropped" }
        if deliveryCount > 1 { return "duplicate" }
        return nil
    }
}
