import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushService

/// Months between a server of two workers and one device: messages are late, repeated, reordered and lost, records and
/// challenges take their time, one worker hears of new keys later than the other.
struct Traffic {
    let device: TrafficDevice
    private(set) var now = Phone.start
    private(set) var messages: [Message] = []
    private(set) var keys: [DevicePrivateKey] = []
    private(set) var counts = Counts()
    private let phone: Phone
    private let opening: @Sendable (Timestamp) -> PushOpening
    private var random: SeededGenerator
    private var server: EnrolledDevice
    private var workers: [Worker]
    private var flights: [Flight] = []
    /// When the first message opened under a key.
    private var firstOpened: [DevicePublicKey: Timestamp] = [:]
    private var lastMaintained = Phone.start

    struct Counts {
        var rotated = 0, inTime = 0, underRetired = 0, late = 0, repeats = 0

        var isEnough: Bool { rotated > 5 && underRetired > 3 && repeats > 3 }
    }

    struct Message {
        let envelope: Envelope
        let recipient: DevicePublicKey
        let sent: Timestamp
        let isLost: Bool
        var openCount = 0
    }

    private struct Worker {
        let sealer: Sealer
        var view: EnrolledDevice
    }

    private struct Flight {
        let message: Int
        let due: Timestamp
        let identifier: String
    }

    init(_ phone: Phone, _ device: TrafficDevice) throws {
        self.phone = phone
        self.device = device
        random = SeededGenerator(for: "rotation under traffic")
        try FileManager.default.createDirectory(
            at: phone.folder.appending("SealedPush"), withIntermediateDirectories: true)
        let ledger = InMemoryLedger(floor: Phone.start.advanced(bySeconds: -1))
        let (store, markers, configuration) = (device.store, device.markers, phone.configuration)
        opening = { moment in
            PushOpening(configuration, keys: store, ledger: ledger, log: nil, markers: markers) { moment }
        }
        server = try EnrolledDevice(
            pinning: try device.record(at: Phone.start), topic: Phone.topic, at: Phone.start)
        workers = []
        try takeKeys()
        try prove()
        for messageCount in [3, 1_024] {
            let sealer = Sealer(
                sender: phone.sender, topic: Phone.topic, safeDefault: "wire default",
                contexts: ContextLimits(messageCount: messageCount))
            workers.append(Worker(sealer: sealer, view: server))
        }
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    /// Some minutes or hours go by, and a message is sealed.
    mutating func step() throws {
        try step(after: .random(in: 60...7_200, using: &random), rotating: chance(20), workersLag: true)
    }

    /// - Parameter workersLag: whether one of them may hear of a new key more than two hours later than the other.
    mutating func step(after seconds: Int64, rotating: Bool, workersLag: Bool) throws {
        now = now.advanced(bySeconds: seconds)
        if rotating {
            let before = try device.record(at: now).counter
            try device.rotate(at: now)
            if try device.record(at: now).counter != before { counts.rotated += 1 }
            try takeKeys()
        }
        if chance(50) { try server.accept(try device.record(at: now), at: now) }
        if chance(70) { try prove() }
        workers[0].view = server
        if !workersLag || chance(25) { workers[1].view = server }
        try seal(by: chance(60) ? 0 : 1)
        try deliver()
        if chance(40) { try maintain() }
    }

    /// Everything that is still on its way arrives.
    mutating func drain() throws {
        while let last = flights.map(\.due).min() {
            now = max(now, last)
            try deliver()
            if chance(10) { try maintain() }
        }
        for (number, message) in messages.enumerated() where !message.isLost {
            let isInTime = isInTime(message)
            if isInTime { #expect(message.openCount == 1, "message \(number)") }
            #expect(message.openCount <= 1, "message \(number)")
            if isInTime { counts.inTime += 1 }
        }
        for message in messages where message.isLost { #expect(message.openCount == 0) }
    }

    private mutating func maintain() throws {
        try device.maintain(at: now)
        lastMaintained = now
    }

    /// A server's challenge for each key of the record that it does not know yet, and the device's answer.
    private mutating func prove() throws {
        for recipient in server.unproven {
            let challenge = PendingChallenge(
                to: recipient, of: server.enrollment, topic: Phone.topic, from: phone.sender, at: now)
            // A key that has retired since answers no more; a newer record tells of it.
            guard let answer = try? device.answer(challenge.text, at: now) else { continue }
            try server.prove(challenge, answer: answer, at: now)
        }
    }

    private mutating func takeKeys() throws {
        for recipient in try device.record(at: now).recipients
        where !keys.contains(where: { $0.recipient == recipient }) {
            keys.append(try #require(try device.store.keys(for: recipient.keyID).first).identity)
        }
    }

    private mutating func seal(by worker: Int) throws {
        let recipient = try workers[worker].view.recipient(at: now)
        var content = Content(body: "message \(messages.count)")
        content.sent = now
        let envelope = try workers[worker].sealer.seal(content, to: recipient).envelope
        let isLost = chance(5)
        messages.append(Message(envelope: envelope, recipient: recipient.recipient, sent: now, isLost: isLost))
        guard !isLost else { return }
        let identifier = "\(messages.count)"
        fly(identifier)
        if chance(10) { fly(identifier) }
        if chance(10) { fly("\(identifier) again") }
    }

    private mutating func fly(_ identifier: String) {
        let delay: Int64 =
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<70: .random(in: 0...300, using: &random)
            case 70..<95: .random(in: 300...90_000, using: &random)
            default: .random(in: 90_000...29 * 86_400, using: &random)
            }
        flights.append(Flight(message: messages.count - 1, due: now.advanced(bySeconds: delay), identifier: identifier))
    }

    private mutating func deliver() throws {
        let arrived = flights.filter { $0.due <= now }.shuffled(using: &random)
        flights.removeAll { $0.due <= now }
        for flight in arrived { open(flight) }
    }

    private mutating func open(_ flight: Flight) {
        let message = messages[flight.message]
        let opening = opening(now)
        let shown = opening.present(field: message.envelope.text, requestIdentifier: flight.identifier)
        opening.tidy(after: shown)
        switch shown {
        case .opened(let draft):
            let (opened, isRepeat) = (draft.opened, draft.isRepeat)
            #expect(opened.recipient == message.recipient)
            if isRepeat { counts.repeats += 1 } else { messages[flight.message].openCount += 1 }
            if firstOpened[opened.recipient] == nil { firstOpened[opened.recipient] = now }
            if retired(message.recipient) != nil { counts.underRetired += 1 }
            #expect(isInTime(message) || !isKnownRetired(message.recipient), "message \(flight.message) came too late")
        case .safeDefault(_, .replayed, _):
            counts.repeats += 1
            #expect(message.openCount == 1 && flight.identifier.hasSuffix("again") || message.openCount == 1)
        case .safeDefault(_, .keyRetired, _):
            counts.late += 1
            #expect(!isInTime(message), "message \(flight.message) was in time")
        case .safeDefault(_, let reason, _): Issue.record("message \(flight.message): \(reason)")
        case .plain: Issue.record("message \(flight.message) was no message")
        }
    }

    /// When a key's successor came into use; nil where none has.
    private func retired(_ recipient: DevicePublicKey) -> Timestamp? {
        guard let index = keys.firstIndex(where: { $0.recipient == recipient }) else { return nil }
        return keys[(index + 1)...].compactMap { firstOpened[$0.recipient] }.min()
    }

    /// Whether the app has run since.
    private func isKnownRetired(_ recipient: DevicePublicKey) -> Bool {
        retired(recipient).map { $0 < lastMaintained } ?? false
    }

    private func isInTime(_ message: Message) -> Bool {
        guard let retired = retired(message.recipient) else { return true }
        return message.sent.seconds(since: retired) <= 7_200
    }
}
