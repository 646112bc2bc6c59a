import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// Replays what the proofs' model of rotation does on the real types: each of its transitions is a call, and after each, the keys
/// must have the same states, the server must seal to the same key, and the same pushes must open.
@Suite("The model of rotation, replayed", .blocking) struct RotationModelTests {
    /// One line that a simulation prints.
    private struct Step: CustomStringConvertible {
        let event: String
        let key: Int
        let now: Timestamp
        let isOpen: Bool
        /// The key that the server seals to, or 0.
        let target: Int
        /// The states of keys 1 to 3.
        let states: [String]
        let description: String

        init?(_ line: Substring) {
            let form = /([a-z]+) key=(\d) clock=(\d) sent=\d open=(\d) target=(\d) states=(\w+),(\w+),(\w+)/
            guard let match = line.wholeMatch(of: form) else { return nil }
            (event, key, target) = (String(match.1), Int(match.2)!, Int(match.5)!)
            // The model counts in units of two hours, for which a replaced key opens new messages.
            now = Timestamp(clamping: 1_800_000_000 + Int64(match.3)! * 7_200)
            isOpen = match.4 == "1"
            states = [match.6, match.7, match.8].map(String.init)
            description = String(line)
        }
    }

    @Test("Every simulation does the same on a device and a server") func replayed() throws {
        let traces = try ProofModel("rotation").simulations(1...100).map { name, lines in
            (name: name, steps: lines.compactMap(Step.init))
        }
        let events = Set(traces.flatMap { $0.steps.map(\.event) })
        #expect(
            events == [
                "add", "sign", "confirm", "retire", "revoke", "erase", "seal", "receive", "tick", "theft", "restore",
            ])
        for (name, steps) in traces {
            var replay = Replay()
            for (number, step) in steps.enumerated() {
                let difference = try replay.take(step)
                try #require(difference == nil, "\(name), step \(number + 1), \(step): \(difference ?? "")")
            }
        }
    }

    private struct Replay {
        private static let topic: Topic = "com.example.app"
        private let identities = (0..<3).map { _ in DevicePrivateKey() }
        private let sender = SenderPrivateKey()
        private let enrollment = EnrollmentPrivateKey()
        private var rotation = KeyRotation<DevicePublicKey>([])
        private var marker: Timestamp?
        private var server: EnrolledDevice?
        private var push: Envelope?

        /// Makes the call of a transition, and returns what differs from the model.
        mutating func take(_ step: Step) throws -> String? {
            let key = identities[max(step.key, 1) - 1].recipient
            switch step.event {
            case "add": if rotation.add(key, at: step.now) == nil { return "no key was added" }
            case "sign": try sign(at: step.now)
            case "confirm": rotation.confirm(key, at: try #require(marker))
            case "retire": if rotation.retireReplaced() != [key] { return "another key retired" }
            case "revoke": rotation.revoke(key, at: step.now)
            case "erase": rotation.erase(key, at: step.now)
            case "seal": try seal(to: key, at: step.now)
            case "receive":
                let isOpen = try receive(at: step.now)
                if isOpen, step.key == 2 { marker = marker ?? step.now }
                if isOpen != step.isOpen { return isOpen ? "it opened" : "it didn't open" }
            // The backup contains the first key only.
            case "restore":
                rotation = KeyRotation([])
                marker = nil
                _ = rotation.add(identities[0].recipient, at: Timestamp(clamping: 1_800_000_000))
            case "tick", "theft": break
            default: return "it is unknown"
            }
            let states = zip(identities, step.states).map { state(of: $0.recipient, like: $1) }
            if states != step.states { return "the states are \(states)" }
            let target = try server.map { try $0.recipient(at: step.now).recipient }
            let number = identities.firstIndex { $0.recipient == target }.map { $0 + 1 } ?? 0
            return number == step.target ? nil : "the server seals to key \(number)"
        }

        /// Returns the model's word. It distinguishes keys that don't exist yet from those that a restored phone lost.
        private func state(of key: DevicePublicKey, like expected: String) -> String {
            guard let state = rotation.life(of: key)?.state else {
                return ["absent", "erased"].contains(expected) ? expected : "absent"
            }
            return state == .active ? "inUse" : state.rawValue
        }

        private var store: InMemoryKeyStore {
            InMemoryKeyStore(
                identities.compactMap { identity in
                    rotation.life(of: identity.recipient).map { DeviceKey(identity, life: $0) }
                })
        }

        /// Signs a record, and lets the server accept it and prove its keys.
        private mutating func sign(at now: Timestamp) throws {
            let record = try DeviceRecord(
                of: rotation, topic: Self.topic, after: server?.record.counter, at: now, signedBy: enrollment)
            var device = try server ?? EnrolledDevice(pinning: record, topic: Self.topic, at: now)
            try device.accept(record, at: now)
            for recipient in device.unproven {
                let challenge = PendingChallenge(
                    to: recipient, of: device.enrollment, topic: Self.topic, from: sender, at: now)
                let answer = try Challenge.answer(
                    challenge.text, enrollment: enrollment.enrollment, topic: Self.topic, keys: store,
                    trusting: [sender.sender])
                try device.prove(challenge, answer: answer, at: now)
            }
            server = device
        }

        private mutating func seal(to key: DevicePublicKey, at now: Timestamp) throws {
            var content = Content(body: "A message")
            content.sent = now
            let sealer = Sealer(sender: sender, topic: Self.topic, safeDefault: "You have a new message!")
            push = try sealer.seal(content, toUnverified: key).envelope
        }

        private mutating func receive(at now: Timestamp) throws -> Bool {
            let envelope = try #require(push)
            let opener = Opener(topic: Self.topic, keys: store, trusting: TrustedSenders([sender.sender]))
            return (try? opener.open(envelope, at: now)) != nil
        }
    }
}
