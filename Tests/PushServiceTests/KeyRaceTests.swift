import Foundation
import PushCore
import PushServiceTesting
import SealedPush
import TestSupport
import Testing

@testable import PushService

/// The keychain can't change several items at once. Whenever an app is killed, and whatever another process does in
/// between, messages still open, and the next call restores order.
@Suite("Operations on a device's keys that are interrupted or collide") struct KeyRaceTests {
    /// The operations of an app on its keys, each with the days that had passed before it.
    enum Act: String, CaseIterable {
        case enroll, rotate, confirm, erase, lostLedger, accept, acceptNewer, revoke

        static let before: [Act: [Act]] = [
            .enroll: [], .rotate: [.enroll], .confirm: [.enroll, .rotate], .erase: [.enroll, .rotate, .confirm],
            .lostLedger: [.enroll], .accept: [.enroll], .acceptNewer: [.enroll, .accept], .revoke: [.enroll, .rotate],
        ]

        var time: Timestamp {
            let day: Int64 =
                switch self {
                case .enroll: 0
                case .rotate, .accept: 1
                case .confirm, .acceptNewer, .lostLedger, .revoke: 2
                case .erase: 33
                }
            return Phone.start.advanced(bySeconds: day * 86_400)
        }

        func prepare(_ phone: Phone) throws {
            switch self {
            case .confirm: phone.markers.mark(try #require(try phone.stored.keys.first).recipient, at: time)
            case .lostLedger: try phone.ledger.begin(floor: time, asksForNewKey: true)
            case .enroll, .rotate, .erase, .accept, .acceptNewer, .revoke: break
            }
        }

        /// Acts like an app whose last operation may have been interrupted.
        func perform(_ phone: Phone) throws {
            let device = phone.device
            switch self {
            case .enroll: _ = try device.enroll(at: time)
            case .rotate:
                do throws(DeviceError) { _ = try device.rotate(at: time) } catch {
                    guard error == .unconfirmed else { throw error }
                    _ = try device.maintain(at: time)
                }
            case .confirm, .erase, .lostLedger: _ = try device.maintain(at: time)
            case .accept: try phone.device.accept(senderSet: phone.set(1).description, at: time)
            case .acceptNewer: try phone.device.accept(senderSet: phone.set(2).description, at: time)
            case .revoke: _ = try device.revoke(at: time)
            }
        }
    }

    /// Returns a phone after everything that precedes an operation.
    private func phone(before act: Act) throws -> Phone {
        let phone = try Phone()
        for earlier in Act.before[act] ?? [] {
            try earlier.prepare(phone)
            try earlier.perform(phone)
        }
        try act.prepare(phone)
        return phone
    }

    /// The messages that must open before, during, and after an operation: one for each key that it keeps.
    private func messages(_ phone: Phone, during act: Act) throws -> [Envelope] {
        guard act != .revoke else { return [] }
        return try phone.stored.keys.compactMap { key in
            let isTakenAway = act == .erase && key.life.state == .retired
            return isTakenAway
                ? nil
                : try phone.seal(to: key.recipient, sent: max(key.life.created, act.time.advanced(bySeconds: -86_400)))
        }
    }

    /// Describes a phone's state, apart from the keys themselves.
    private func summary(_ phone: Phone) throws -> String {
        let stored = try phone.stored
        let lives = stored.keys.map { "\($0.life.state)\($0.life.confirmed == nil ? "?" : "")" }
        let named = stored.enrollment(for: Phone.topic)?.record?.recipients
        let active = stored.keys.filter { $0.life.state == .active }.map(\.recipient)
        let set = try DeviceKeys(phone.items).senderSet(for: Phone.topic, of: phone.configuration.authorities)
        return "\(lives) \(named == active || named == nil && active.isEmpty) \(set?.counter ?? 0)"
    }

    /// Remembers records, so that a counter used for two of them is noticed.
    private struct Records {
        private var byCounter: [UInt64: DeviceRecord] = [:]

        mutating func look(at phone: Phone, _ place: Comment) throws {
            guard let record = try phone.stored.enrollment(for: Phone.topic)?.record else { return }
            look(at: record, place)
        }

        mutating func look(at record: DeviceRecord, _ place: Comment) {
            let known = byCounter[record.counter]
            #expect(known == nil || known == record, place)
            #expect((byCounter.keys.max() ?? 0) <= record.counter, place)
            byCounter[record.counter] = record
        }
    }

    @Test(
        "After an interruption at any write, messages open, and the next call reaches the same end",
        arguments: Act.allCases)
    func cutOff(act: Act) throws {
        let whole = try phone(before: act)
        let counted = WatchedItems(whole.memory)
        try act.perform(whole.with(counted))
        let expected = try summary(whole)
        let writeCount = counted.counts.writeCount
        #expect(writeCount > 0)
        for number in 0..<writeCount {
            for isAfter in [false, true] {
                let phone = try phone(before: act)
                let messages = try messages(phone, during: act)
                let fail: @Sendable (Int) throws(SecretItemError) -> Void = { (write) throws(SecretItemError) in
                    if write == number { throw .other(-1) }
                }
                let watch = isAfter ? WatchedItems.Watch(afterWrite: fail) : .init(beforeWrite: fail)
                let place: Comment = "\(act), write \(number), \(isAfter ? "after" : "before")"
                var records = Records()
                try records.look(at: phone, place)
                #expect(throws: DeviceError.self, place) { try act.perform(phone.with(watch)) }
                for message in messages { _ = try phone.open(message, at: act.time) }
                try records.look(at: phone, place)
                try act.perform(phone)
                for message in messages { _ = try phone.open(message, at: act.time) }
                try records.look(at: phone, place)
                #expect(try summary(phone) == expected, place)
            }
        }
    }

    @Test("At every call of the app, the extension opens what it opened before", arguments: Act.allCases)
    func reading(act: Act) throws {
        let phone = try phone(before: act)
        let messages = try messages(phone, during: act)
        let readCount = Locked(0)
        let failures = Collected<String>()
        let watch = WatchedItems.Watch(beforeCall: { call, _ in
            readCount.withLock { $0 += 1 }
            for message in messages where (try? phone.open(message, at: act.time)) == nil {
                failures.add("\(act), call \(call)")
            }
        })
        try act.perform(phone.with(watch))
        #expect(failures.all.isEmpty)
        #expect(readCount.withLock { $0 } > 2)
    }

    @Test("Another process may do the same, or something else, between any two calls", arguments: Act.allCases)
    func twoProcesses(act: Act) throws {
        for other in Act.allCases where Act.before[other] == Act.before[act] || other == act || other == .rotate {
            let whole = try phone(before: act)
            let counted = WatchedItems(whole.memory)
            try act.perform(whole.with(counted))
            for number in 0..<counted.counts.callCount {
                let phone = try phone(before: act)
                let messages = other == .revoke ? [] : try messages(phone, during: act)
                let place: Comment = "\(act), \(other) at call \(number)"
                var records = Records()
                try records.look(at: phone, place)
                let failures = Collected<String>()
                let others = Collected<DeviceRecord>()
                let interfering = WatchedItems.Watch(beforeCall: { call, _ in
                    guard call == number else { return }
                    do {
                        try other.perform(phone)
                        if let record = try phone.stored.enrollment(for: Phone.topic)?.record { others.add(record) }
                    } catch { failures.add("\(error)") }
                })
                do {
                    try act.perform(phone.with(interfering))
                } catch {
                    // Of two sets, the older one comes too late.
                    #expect(error as? DeviceError == .record(.rolledBack), place)
                }
                #expect(failures.all.isEmpty, place)
                for record in others.all { records.look(at: record, place) }
                try records.look(at: phone, place)
                let done = try phone.device.maintain(at: act.time)
                try records.look(at: phone, place)
                for message in messages where !(done.erased.contains(where: message.matches)) {
                    _ = try phone.open(message, at: act.time)
                }
                let active = try phone.stored.keys.filter { $0.life.state == .active }
                #expect(done.record.recipients == active.map(\.recipient), place)
                #expect((1...3).contains(active.count), place)
                let set = try DeviceKeys(phone.memory).senderSet(for: Phone.topic, of: phone.configuration.authorities)
                let expected: UInt64 =
                    [act, other].contains(.acceptNewer) ? 2 : [act, other].contains(.accept) ? 1 : 0
                #expect(set?.counter ?? 0 == expected, place)
            }
        }
    }

    @Test("A rotation that meets another process returns a record of its own new key") func rotationMet() throws {
        let phone = try phone(before: .rotate)
        let before = try phone.stored.keys.map(\.recipient)
        let watch = WatchedItems.Watch(beforeWrite: {
            if $0 == 1 { _ = try? phone.device.maintain(at: Act.rotate.time) }
        })
        let record = try phone.with(watch).device.rotate(at: Act.rotate.time)
        #expect(record.recipients.count == 2 && record.recipients.suffix(1) == before[...])
    }

    @Test("If another process keeps changing the keys, the call ends with an error and doesn't hang")
    func endless() throws {
        let phone = try phone(before: .rotate)
        let account = StoredEnrollment.account(Phone.topic)
        let watch = WatchedItems.Watch(beforeWrite: { number in
            guard let item = phone.memory.list().first(where: { $0.account == account }) else { return }
            var attributes = item.attributes
            attributes.insert(UInt8(ascii: " "), at: number % 2)
            try? phone.memory.replace(item, attributes: attributes)
        })
        #expect(throws: DeviceError.self) { try phone.with(watch).device.rotate(at: Act.rotate.time) }
    }

    @Test("If two items exist for a key, the one further along in its life counts") func duplicates() throws {
        let identity = DevicePrivateKey()
        let active = KeyLife(created: Phone.start, confirmed: Phone.start)
        var retired = active
        retired.retire(at: Phone.start)
        for lives in [[active, retired], [retired, active]] {
            let phone = try Phone(lives.map { StoredKey.item(identity, life: $0) })
            let late = try phone.seal(to: identity.recipient, sent: Phone.start.advanced(bySeconds: 7_201))
            #expect(throws: OpenError.keyRetired) {
                try phone.open(late, at: Phone.start.advanced(bySeconds: 7_201))
            }
            let inTime = try phone.seal(to: identity.recipient, sent: Phone.start)
            _ = try phone.open(inTime, at: Phone.start)
            let record = try phone.device.enroll(at: Phone.start)
            #expect(!record.recipients.contains(identity.recipient))
            #expect(try phone.device.maintain(at: Phone.start.advanced(bySeconds: 31 * 86_400)).erased.count == 1)
            #expect(!(try phone.stored.keys.contains { $0.recipient == identity.recipient }))
        }
        // The same item twice is one key.
        let twice = try Phone([active, active].map { StoredKey.item(identity, life: $0) })
        try twice.ledger.begin(floor: Phone.start, asksForNewKey: false)
        #expect(try twice.device.enroll(at: Phone.start).recipients == [identity.recipient])
        let new = try twice.device.rotate(at: Phone.start).recipients[0]
        twice.markers.mark(new, at: Phone.start.advanced(bySeconds: 9))
        #expect(try twice.device.maintain(at: Phone.start.advanced(bySeconds: 9)).record.recipients == [new])
    }

    @Test("Foreign and damaged items open no message and affect no other item") func strangeItems() throws {
        let phone = try phone(before: .rotate)
        let secret = DevicePrivateKey().withSecretText { ItemSecret(copying: $0) }
        let good = KeyLife(created: Phone.start).attributes
        let stranger = DevicePrivateKey().recipient
        let damaged: [(String, [UInt8])] = [
            ("key \(stranger)", good), ("key \(stranger)x", good), ("key ", good), ("something", good),
            ("key \(DevicePrivateKey().recipient)", Array("{}".utf8)), ("key \(DevicePrivateKey().recipient)", []),
            ("key \(DevicePrivateKey().recipient)", Array(#"{"created":1,"state":"active"}"#.utf8)),
            ("senders x", good), ("senders com.example.app \(phone.authority.authority) -1", good),
        ]
        for (account, attributes) in damaged {
            try phone.memory.add(SecretItem(account: account, attributes: attributes, secret: secret))
        }
        // Its public half doesn't match its secret.
        #expect(try DeviceKeys(phone.memory).keys { $0 == stranger }.isEmpty)
        let recipient = try #require(try phone.stored.enrollment(for: Phone.topic)?.record).recipients[0]
        _ = try phone.open(try phone.seal(to: recipient, sent: Phone.start), at: Phone.start)
        #expect(try DeviceKeys(phone.memory).senderSet(for: Phone.topic, of: phone.configuration.authorities) == nil)
    }

    @Test("A damaged enrollment item can't sign") func damagedEnrollment() throws {
        let phone = try phone(before: .rotate)
        let item = try #require(phone.memory.list().first { $0.account == StoredEnrollment.account(Phone.topic) })
        let counterOnly = Array(#"{"counter":7000000000,"record":"pushrecord.x"}"#.utf8)
        try phone.memory.replace(item, attributes: counterOnly)
        #expect(try phone.device.enroll(at: Phone.start).counter == 7_000_000_001)
        let changed = try #require(phone.memory.list().first { $0.account == StoredEnrollment.account(Phone.topic) })
        try phone.memory.replace(changed, attributes: Array("x".utf8))
        #expect(throws: DeviceError.unavailable("the enrollment key in the keychain is damaged")) {
            try phone.device.enroll(at: Phone.start)
        }
    }
}

extension Phone {
    fileprivate func set(_ counter: UInt64) throws -> SenderSet { try senderSet(counter, of: [sender]) }
}
