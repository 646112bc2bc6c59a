import Foundation
import PushCore
import PushSender
import PushServiceTesting
import SealedPush
import TestSupport
import Testing

@testable import PushService

/// A system promises no particular answer about items that it can't decrypt yet. So, whatever it answers, no conclusion may
/// be drawn from items that aren't seen.
@Suite("A device before its first unlock") struct HiddenItemsTests {
    /// The system's answers about locked items.
    enum Manner: CaseIterable, Sendable { case refusesToList, listsNothing, listsSome, listsAll, listsAllAndFindsNone }

    private let phone: Phone

    init() throws { phone = try Phone() }

    /// The phone, locked until this many calls were made.
    private func hidden(_ manner: Manner, unlockingAtCall unlocking: Int = .max) -> Phone {
        phone.with(
            WatchedItems.Watch(
                beforeCall: { (number, call) throws(SecretItemError) in
                    guard number < unlocking else { return }
                    switch call {
                    case .list: if manner == .refusesToList { throw .locked }
                    case .secret: throw manner == .listsAllAndFindsNone ? .notFound : .locked
                    case .write: throw .locked
                    }
                },
                listed: { number, items in
                    guard number < unlocking else { return items }
                    return switch manner {
                    case .listsNothing, .refusesToList: []
                    case .listsSome: Array(items.prefix(1))
                    case .listsAll, .listsAllAndFindsNone: items
                    }
                }))
    }

    private func enrolled() throws -> DeviceRecord {
        _ = try phone.device.enroll(at: Phone.start)
        let record = try phone.device.rotate(at: Phone.start)
        try phone.device.accept(senderSet: phone.senderSet(1, of: [phone.sender]).description, at: Phone.start)
        return record
    }

    @Test(
        "Whatever the system answers, a hidden key is locked, no sender is trusted, and no key is made",
        arguments: Manner.allCases)
    func locked(manner: Manner) throws {
        let record = try enrolled()
        let before = phone.memory.list()
        let hidden = self.hidden(manner)
        let keys = DeviceKeys(hidden.items)
        for recipient in record.recipients + [DevicePrivateKey().recipient] {
            #expect(throws: KeyStoreError.locked) { try keys.keys { $0 == recipient } }
            let envelope = try phone.seal(to: recipient, sent: Phone.start)
            #expect(throws: OpenError.locked) { try hidden.open(envelope, at: Phone.start) }
        }
        let authorities = phone.configuration.authorities
        #expect(throws: KeyStoreError.locked) { try keys.senderSet(for: Phone.topic, of: authorities) }
        #expect(throws: DeviceError.locked) { try hidden.device.enroll(at: Phone.start) }
        #expect(throws: DeviceError.locked) { try hidden.device.maintain(at: Phone.start) }
        #expect(throws: DeviceError.locked) { try hidden.device.rotate(at: Phone.start) }
        #expect(throws: DeviceError.locked) { try hidden.device.revoke(at: Phone.start) }
        #expect(throws: ChallengeError.locked) { try hidden.device.answer(challenge: "pushchallenge.x") }
        #expect(phone.memory.list() == before)
    }

    @Test(
        "An operation during which the device is unlocked is refused, or acts as if unlocked",
        arguments: Manner.allCases)
    func unlocking(manner: Manner) throws {
        let record = try enrolled()
        let before = phone.memory.list()
        let newest = try #require(record.recipients.first)
        for call in 0..<8 {
            func hidden() -> Phone { self.hidden(manner, unlockingAtCall: call) }
            do {
                #expect(try hidden().device.enroll(at: Phone.start) == record, "\(manner), \(call)")
            } catch { #expect(error == .locked, "\(manner), \(call)") }
            do {
                let found = try DeviceKeys(hidden().items).keys { $0 == newest }
                #expect(found.map(\.identity.recipient) == [newest], "\(manner), \(call)")
            } catch { #expect(error == .locked, "\(manner), \(call)") }
            do {
                let authorities = phone.configuration.authorities
                let set = try DeviceKeys(hidden().items).senderSet(for: Phone.topic, of: authorities)
                #expect(set?.counter == 1, "\(manner), \(call)")
            } catch { #expect(error == .locked, "\(manner), \(call)") }
        }
        #expect(phone.memory.list() == before)
    }

    @Test("An empty keychain is distinguished from a hidden one, and gets a first key") func empty() throws {
        let items = phone.memory
        #expect(try DeviceKeys(items).keys { _ in false }.isEmpty)
        #expect(try DeviceKeys(items).senderSet(for: Phone.topic, of: phone.configuration.authorities) == nil)
        #expect(items.list().isEmpty)
        let record = try phone.device.enroll(at: Phone.start)
        #expect(Set(items.list().map { $0.account }) == ["key \(record.recipients[0])", "enrollment \(Phone.topic)"])
    }

    @Test("Of many keys, only the secret of the wanted one is read") func oneSecret() throws {
        let identities = (0..<16).map { _ in DevicePrivateKey() }
        let life = KeyLife(created: Phone.start, confirmed: Phone.start)
        let items = WatchedItems(InMemorySecretItems(identities.map { StoredKey.item($0, life: life) }))
        let found = try DeviceKeys(items).keys { $0 == identities[9].recipient }
        #expect(found.map(\.identity.recipient) == [identities[9].recipient])
        #expect(items.counts.secretCount == 1)
        // For a missing key, one more secret is read, which proves that no item is hidden.
        #expect(try DeviceKeys(items).keys { _ in false }.isEmpty)
        #expect(items.counts.secretCount == 2)
    }
}
