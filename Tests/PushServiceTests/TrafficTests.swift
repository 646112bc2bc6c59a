import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushService

@Suite("Keys that change under traffic")
struct TrafficTests {
    private func device(_ phone: Phone) throws -> TrafficDevice {
        _ = try phone.device.enroll(at: Phone.start)
        return TrafficDevice(phone: phone)
    }

    @Test(
        "a sender goes on sealing while the device rotates: what was sealed in time opens exactly once, nothing else does"
    )
    func rotation() throws {
        let phone = try Phone()
        var traffic = try Traffic(phone, try device(phone))
        for _ in 0..<Thoroughness.count(120, thorough: 400) { try traffic.step() }
        // By chance too little may have happened so far, or none may have come too late: then a while longer.
        for _ in 0..<4_000 where !traffic.counts.isEnough || traffic.counts.late == 0 {
            try traffic.step()
        }
        try traffic.drain()
        let counts = traffic.counts
        #expect(counts.isEnough, "\(counts)")
        #expect(counts.inTime > Thoroughness.count(15, thorough: 60), "\(counts)")
        #expect(counts.late > 0, "\(counts)")

        // And when all of it is erased, nothing of it is left.
        let now = traffic.now.advanced(bySeconds: 32 * 86_400)
        let recipients = Set(try traffic.device.record(at: now).recipients)
        let (gone, kept) = (
            traffic.keys.filter { !recipients.contains($0.recipient) },
            traffic.keys.filter { recipients.contains($0.recipient) }
        )
        #expect(gone.count > 3 && !kept.isEmpty)
        let before = try traffic.device.storedBytes()
        #expect(kept.allSatisfy { $0.isFound(in: before) }, "the search finds nothing at all")
        try traffic.device.maintain(at: now)
        let bytes = try traffic.device.storedBytes()
        #expect(bytes.count > 100)
        for identity in gone {
            #expect(!identity.isFound(in: bytes))
            #expect(try traffic.device.store.keys(for: identity.recipient.keyID).isEmpty)
        }
        let opener = Opener(
            topic: Phone.topic, keys: traffic.device.store, trusting: [phone.sender.sender])
        for message in traffic.messages.prefix(60) where !recipients.contains(message.recipient) {
            #expect(throws: OpenError.unknownRecipient) { try opener.open(message.envelope, at: now) }
        }
    }

    @Test("a new key every day for sixty days, with a message every hour: nothing is lost")
    func everyDay() throws {
        let phone = try Phone()
        var traffic = try Traffic(phone, try device(phone))
        for hour in 1...60 * 24 { try traffic.step(after: 3_600, rotating: hour % 24 == 0, workersLag: false) }
        try traffic.drain()
        let counts = traffic.counts
        #expect(counts.rotated >= 59, "\(counts)")
        #expect(counts.late == 0, "\(counts)")
        #expect(counts.inTime == traffic.messages.count { !$0.isLost }, "\(counts)")
        #expect(counts.underRetired > 0, "\(counts)")
    }

    @Test("a stolen retired key forges nothing that is dated later than two hours after its retirement")
    func thief() throws {
        let phone = try Phone()
        let device = try device(phone)
        let hour: Int64 = 3_600
        func at(_ seconds: Int64) -> Timestamp { Phone.start.advanced(bySeconds: seconds) }
        let old = try #require(try device.record(at: at(0)).recipients.first)
        let stolen = try #require(try device.store.keys(for: old.keyID).first).identity
        try device.rotate(at: at(hour))
        let new = try device.record(at: at(hour)).recipients[0]
        device.markers.mark(new, at: at(2 * hour))
        try FileManager.default.createDirectory(
            at: phone.folder.appending("SealedPush"), withIntermediateDirectories: true)
        device.markers.mark(new, at: at(2 * hour))
        try device.maintain(at: at(3 * hour))
        let retired = at(2 * hour)
        let opener = Opener(topic: Phone.topic, keys: device.store, trusting: [phone.sender.sender])
        func forge(sent: Timestamp) throws -> Envelope {
            try forgery(with: stolen, inTheNameOf: phone.sender.sender, sent: sent)
        }
        // That it is one that opens shows that the rest is no accident: any HPKE in mode_auth is like that.
        _ = try opener.open(try forge(sent: retired.advanced(bySeconds: 2 * hour)), at: at(5 * hour))
        var random = SeededGenerator()
        for step in 0..<Thoroughness.count(40, thorough: 200) {
            let lead = step == 0 ? 1 : Int64.random(in: 1...(40 * 86_400), using: &random)
            let sent = retired.advanced(bySeconds: 2 * hour + lead)
            // Whenever it is delivered.
            let now = sent.advanced(bySeconds: Int64.random(in: -25 * hour...30 * 86_400, using: &random))
            let forged = try forge(sent: sent)
            #expect(throws: OpenError.keyRetired) { try opener.open(forged, at: max(now, at(3 * hour))) }
        }
        try device.maintain(at: at(40 * 86_400))
        let forged = try forge(sent: retired)
        #expect(throws: OpenError.unknownRecipient) { try opener.open(forged, at: retired) }
    }

    /// With the identity alone, the thief computes what the sender would have computed (Specification 3.4.10).
    private func forgery(with stolen: DevicePrivateKey, inTheNameOf sender: SenderPublicKey, sent: Timestamp) throws
        -> Envelope
    {
        let ephemeral = X25519PrivateKey.random()
        let context = HPKEContext(
            receiving: ephemeral.publicKey, with: stolen.x25519, from: sender.x25519,
            info: HPKEInfo(Envelope.info(topic: Phone.topic)))
        let content = """
            {"id":"5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09","topic":"\(Phone.topic)","sent":\(sent.secondsSince1970),\
            "alert":{"body":"forged"}}
            """
        return .sealing(
            Array(content.utf8) + [0x80], to: stolen.recipient, from: sender, in: context, sequenceNumber: 0)
    }
}

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

/// A phone as traffic sees it.
struct TrafficDevice {
    let phone: Phone

    var store: any KeyStore { DeviceKeys(phone.items) }
    var markers: ConfirmationMarkers { phone.markers }
    /// The newest record.
    func record(at now: Timestamp) throws -> DeviceRecord { try phone.device.enroll(at: now) }

    /// Makes a new key, unless one waits already.
    func rotate(at now: Timestamp) throws {
        do throws(DeviceError) { _ = try phone.device.rotate(at: now) } catch {
            guard error == .unconfirmed else { throw error }
        }
    }

    /// What the app does when it runs.
    func maintain(at now: Timestamp) throws { _ = try phone.device.maintain(at: now) }

    func answer(_ challenge: String, at now: Timestamp) throws -> String {
        try phone.device.answer(challenge: challenge, at: now)
    }

    /// Every byte that is stored, in names too.
    func storedBytes() throws -> [UInt8] {
        try phone.wholeItems.flatMap { item in
            Array(item.account.utf8) + item.attributes + item.secret.withBytes { Array($0) }
        }
    }
}

extension DevicePrivateKey {
    /// How its secret might be written down: raw, hexadecimal, Base64 at each of its three offsets, Bech32.
    var traces: [[UInt8]] {
        let raw = withBytes { Array($0) }
        var traces = [raw, Array(Hex.encode(raw).utf8), Array(Hex.encode(raw).uppercased().utf8)]
        for offset in 0..<3 {
            // What neighbors have no part in.
            let text = Data([UInt8](repeating: 0, count: offset) + raw).base64EncodedString()
            let inner = Array(text.utf8.dropFirst(4).prefix(36))
            traces.append(inner)
            traces.append(
                inner.map {
                    $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
                })
        }
        let text = withSecretText { Array($0.dropFirst("PUSH-SECRET-KEY-1".utf8.count).prefix(50)) }
        return traces + [text, Array(String(decoding: text, as: UTF8.self).lowercased().utf8)]
    }

    /// Whether any of them, or a half of the raw key, is among the bytes.
    func isFound(in bytes: [UInt8]) -> Bool {
        let parts = [Array(traces[0].prefix(16)), Array(traces[0].suffix(16))]
        return (traces + parts).contains { Self.isPart($0, of: bytes) }
    }

    private static func isPart(_ needle: [UInt8], of bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { haystack in
            guard let base = haystack.baseAddress else { return false }
            var offset = 0
            while offset + needle.count <= haystack.count {
                let rest = haystack.count - needle.count - offset + 1
                guard let hit = memchr(base + offset, Int32(needle[0]), rest) else { return false }
                offset = base.distance(to: UnsafeRawPointer(hit))
                if memcmp(base + offset, needle, needle.count) == 0 { return true }
                offset += 1
            }
            return false
        }
    }
}
