internal import Foundation
internal import _PushBase

/// What the control endpoint can do. Bodies and answers are JSON.
///
/// | request | body | what it does |
/// |---|---|---|
/// | `GET /status` | | counts of connections, requests, refusals, deliveries, devices |
/// | `GET /faults` | | the faults in force, and the seed |
/// | `PUT /faults` | ``APNsFaults`` | replaces them; absent members are 0 |
/// | `GET /devices` | | the first 1,000 registrations |
/// | `POST /devices` | `{"name", "topic"}` | registers a device; returns its token |
/// | `PUT /tokens/TOKEN` | `{"state", "since"}` | `active`, `unregistered`, `expired`, `bad`; since: milliseconds, or now |
/// | `GET /keys` | | the providers' keys |
/// | `POST /keys` | `{"keyID", "teamID", "publicKey", …}` | registers a provider's key, see ``ProviderKey``; a `.p8` will do |
/// | `POST /goaway` | `{"reason"}` | GOAWAY on every connection; without a reason if there is none |
/// | `POST /shutdown` | | ends the server as Ctrl-C does |
struct ControlCommands: Sendable {
    let core: LocalAPNsCore
    let folder: LocalAPNsFolder

    func run(_ method: String, path: String, body: Data) -> ControlAnswer {
        switch (method, path) {
        case ("GET", "/status"): return .value(Status(requests: core.counts, devices: core.registry.counts))
        case ("GET", "/faults"): return .value(Faults(seed: core.configuration.seed, faults: core.faults))
        case ("PUT", "/faults"): return decoded(body, setFaults)
        case ("GET", "/devices"): return .value(core.registry.records(limit: 1_000))
        case ("POST", "/devices"): return decoded(body, register)
        case ("GET", "/keys"): return .value(core.tokens.all)
        case ("POST", "/keys"): return decoded(body, addKey)
        case ("POST", "/goaway"): return decoded(body.isEmpty ? Data("{}".utf8) : body, goAway)
        case ("POST", "/shutdown"):
            kill(getpid(), SIGTERM)
            return ControlAnswer(200, ["shutdown": "begun"])
        case ("PUT", _) where path.hasPrefix("/tokens/"):
            return decoded(body) { (change: TokenChange) in setToken(String(path.dropFirst("/tokens/".count)), change) }
        default: return ControlAnswer(404, ["error": "there is no \(method) of this path"])
        }
    }

    private struct Status: Encodable {
        let requests: LocalAPNsCore.Counts
        let devices: DeviceCounts
    }

    private struct Faults: Encodable {
        let seed: UInt64
        let faults: APNsFaults
    }

    private struct Registration: Decodable {
        let name: String
        let topic: String
    }

    private struct TokenChange: Decodable {
        let state: DeviceRecord.State
        let since: Int64?
    }

    private struct GoAway: Decodable { let reason: String? }

    private func setFaults(_ faults: APNsFaults) -> ControlAnswer {
        guard faults.isValid else { return ControlAnswer(400, ["error": "a chance is not between 0 and 1"]) }
        core.faults = faults
        return .value(Faults(seed: core.configuration.seed, faults: faults))
    }

    private func register(_ device: Registration) -> ControlAnswer {
        guard (1...255).contains(device.name.utf8.count), (1...155).contains(device.topic.utf8.count) else {
            return ControlAnswer(400, ["error": "a name has 1 to 255 bytes, a topic 1 to 155"])
        }
        return ControlAnswer(200, ["token": core.registry.register(name: device.name, bundleID: device.topic)])
    }

    private func setToken(_ token: String, _ change: TokenChange) -> ControlAnswer {
        guard core.registry.setState(change.state, token: token, since: change.since) else {
            return ControlAnswer(404, ["error": "no device has this token"])
        }
        return ControlAnswer(200, ["token": token, "state": change.state.rawValue])
    }

    private func addKey(_ given: ProviderKey) -> ControlAnswer {
        guard let publicKey = ProviderKey.publicKey(pem: given.publicKey) else {
            return ControlAnswer(400, ["error": "publicKey is no P-256 key in PEM"])
        }
        var key = given
        key.publicKey = publicKey
        core.tokens.register(key)
        do { try folder.save(core.tokens.all) } catch { return ControlAnswer(500, ["error": error.description]) }
        return .value(key)
    }

    private func goAway(_ command: GoAway) -> ControlAnswer {
        let reason = command.reason.flatMap { APNsReason(rawValue: $0) }
        guard command.reason == nil || reason != nil else { return ControlAnswer(400, ["error": "no such reason"]) }
        return .value(["connections": core.goAway(reason)])
    }

    private func decoded<Value: Decodable>(_ body: Data, _ run: (Value) -> ControlAnswer) -> ControlAnswer {
        guard let value = try? JSONDecoder().decode(Value.self, from: body) else {
            return ControlAnswer(400, ["error": "the body is not what this takes"])
        }
        return run(value)
    }
}

/// What the control endpoint answers.
struct ControlAnswer {
    var status: Int
    var body: Data

    init(_ status: Int, _ members: [String: String]) {
        self.status = status
        body = Self.encode(members)
    }

    static func value(_ value: some Encodable) -> ControlAnswer {
        var answer = ControlAnswer(200, [:])
        answer.body = encode(value)
        return answer
    }

    private static func encode(_ value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ((try? encoder.encode(value)) ?? Data("{}".utf8)) + Data("\n".utf8)
    }
}
