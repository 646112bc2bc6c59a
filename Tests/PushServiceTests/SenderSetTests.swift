import Foundation
import PushCore
import PushServiceTesting
import SealedPush
import TestSupport
import Testing

@testable import PushService

@Suite("Sender sets on a device") struct SenderSetTests {
    private let phone: Phone
    private let recipient: DevicePublicKey
    private let start = Phone.start
    private let newcomer = SenderPrivateKey()

    init() throws {
        phone = try Phone()
        recipient = try phone.device.enroll(at: start).recipients[0]
    }

    private func accept(_ set: SenderSet, by authorities: [AuthorityPublicKey]? = nil) throws -> Bool {
        let app = phone.configuration
        let configuration = ServiceConfiguration(
            topic: app.topic, keys: app.keys, trusting: app.senders, authorities: authorities ?? app.authorities,
            safeDefault: app.safeDefault, container: app.container)
        let before = try? newest(of: configuration.authorities)
        #expect(try OwnDevice(configuration, environment: .system).accept(senderSet: set.description, at: start) == set)
        return try newest(of: configuration.authorities) != before
    }

    private func newest(of authorities: [AuthorityPublicKey]) throws -> SenderSet? {
        try DeviceKeys(phone.items).senderSet(for: Phone.topic, of: authorities)
    }

    private func opens(from sender: SenderPrivateKey, at now: Timestamp = Phone.start) throws -> Bool {
        let envelope = try phone.seal(to: recipient, sent: now, from: sender)
        do throws(OpenError) {
            _ = try phone.open(envelope, at: now)
            return true
        } catch {
            #expect(error == .unknownSender)
            return false
        }
    }

    @Test("From the first set on, its senders are trusted, not the built-in ones") func accepted() throws {
        #expect(try opens(from: phone.sender))
        #expect(try !opens(from: newcomer))
        #expect(try accept(try phone.senderSet(1, of: [newcomer])))
        #expect(try !opens(from: phone.sender))
        #expect(try opens(from: newcomer))
        #expect(try !accept(try phone.senderSet(1, of: [newcomer])))
        #expect(try accept(try phone.senderSet(9, of: [newcomer, phone.sender])))
        #expect(try opens(from: phone.sender) && opens(from: newcomer))
        // An expired set restores no senders.
        let late = start.advanced(bySeconds: 90 * 86_400 + 1)
        #expect(try !opens(from: phone.sender, at: late) && !opens(from: newcomer, at: late))
    }

    @Test("A sender of a later algorithm in a set doesn't stop the others") func laterAlgorithm() throws {
        let set = try phone.senderSet(1, of: [newcomer])
        #expect(try accept(set.adding([UInt8](repeating: 7, count: 1_952), signedBy: phone.authority)))
        #expect(try opens(from: newcomer) && !opens(from: phone.sender))
    }

    @Test("A set that is refused changes nothing, for any reason") func refused() throws {
        #expect(try accept(try phone.senderSet(5, of: [newcomer])))
        let before = try phone.items.list()
        func expect(_ error: RecordError, _ text: String, at now: Timestamp = Phone.start) {
            #expect(throws: DeviceError.record(error)) { try phone.device.accept(senderSet: text, at: now) }
        }
        let good = try phone.senderSet(6, of: [phone.sender]).description
        expect(.rolledBack, try phone.senderSet(4, of: [phone.sender]).description)
        expect(.foreignSigner, try phone.senderSet(6, of: [phone.sender], by: AuthorityPrivateKey()).description)
        expect(.expired, good, at: start.advanced(bySeconds: 91 * 86_400))
        expect(.wrongChecksum, String(good.dropLast(9)) + "AAAAAAAAA")
        expect(.malformed, String(repeating: "x", count: 100_000))
        expect(.wrongType, try phone.device.enroll(at: start).description)
        #expect(try phone.items.list() == before)
        #expect(try opens(from: newcomer) && !opens(from: phone.sender))
    }

    @Test("Without a pinned authority, no set is accepted, and no existing one is followed")
    func noAuthority() throws {
        let set = try phone.senderSet(1, of: [newcomer])
        #expect(throws: DeviceError.record(.foreignSigner)) { try accept(set, by: []) }
        #expect(try accept(set))
        let app = phone.configuration
        let unpinned = Opener(topic: app.topic, keys: DeviceKeys(phone.items), trusting: app.senders)
        _ = try unpinned.open(try phone.seal(to: recipient, sent: start), at: start)
    }

    @Test("Changing authorities restores no old set, and a set of an authority no longer pinned doesn't count")
    func twoAuthorities() throws {
        let second = AuthorityPrivateKey()
        let both = [phone.authority.authority, second.authority]
        #expect(try accept(try phone.senderSet(8, of: [phone.sender])))
        for (counter, error) in [(7, RecordError.rolledBack), (8, .conflicting)] as [(UInt64, RecordError)] {
            let set = try phone.senderSet(counter, of: [newcomer], by: second)
            #expect(throws: DeviceError.record(error)) { try accept(set, by: both) }
        }
        #expect(try accept(try phone.senderSet(9, of: [newcomer], by: second), by: both))
        #expect(throws: DeviceError.record(.rolledBack)) {
            try accept(try phone.senderSet(8, of: [phone.sender]), by: both)
        }
        #expect(try accept(try phone.senderSet(99, of: [phone.sender]), by: both))
        #expect(try newest(of: both)?.counter == 99)
        // A thief of the first authority's key can't block the second one's counter.
        #expect(try accept(try phone.senderSet(10, of: [newcomer], by: second), by: [second.authority]))
        #expect(try newest(of: both)?.counter == 10)
        #expect(try phone.stored.senderSets(for: Phone.topic).map(\.counter).sorted() == [9, 10])
    }

    @Test("If an app update unpins one authority, the other one's newest set counts again, and no old sender returns")
    func unpinned() throws {
        let second = AuthorityPrivateKey()
        let both = [phone.authority.authority, second.authority]
        let set = try phone.senderSet(5, of: [newcomer])
        #expect(try accept(set, by: both))
        for counter: UInt64 in [6, 7] {
            #expect(try accept(try phone.senderSet(counter, of: [phone.sender], by: second), by: both))
            // These messages are opened by an app that pins only the first.
            #expect(try opens(from: newcomer) && !opens(from: phone.sender))
        }
        #expect(throws: DeviceError.record(.rolledBack)) { try accept(try phone.senderSet(4, of: [phone.sender])) }
        #expect(throws: DeviceError.record(.conflicting)) { try accept(try phone.senderSet(5, of: [phone.sender])) }
        #expect(try !accept(set))
        #expect(try phone.stored.senderSets(for: Phone.topic).map(\.counter) == [5])
    }

    @Test("With a damaged set, no message opens until a newer set is accepted") func damaged() throws {
        #expect(try accept(try phone.senderSet(3, of: [newcomer])))
        let items = phone.memory
        let account = try #require(items.items().first { $0.account.hasPrefix("senders ") }).account
        try items.remove(account: account)
        let text = Array("pushrecord.x".utf8)
        try items.add(
            SecretItem(account: account, attributes: [], secret: text.withUnsafeBytes { ItemSecret(copying: $0) }))
        let envelope = try phone.seal(to: recipient, sent: start)
        #expect(throws: OpenError.keysUnavailable) { try phone.open(envelope, at: start) }
        #expect(throws: DeviceError.record(.rolledBack)) { try accept(try phone.senderSet(3, of: [newcomer])) }
        #expect(try accept(try phone.senderSet(4, of: [newcomer])))
        #expect(try opens(from: newcomer))
    }

    @Test("If many processes accept different sets at once, the newest one stays") func race() throws {
        let sets = try (1...24).map { try phone.senderSet(UInt64($0), of: [newcomer]) }
        DispatchQueue.concurrentPerform(iterations: 24) { number in _ = try? accept(sets[(number * 7) % 24]) }
        #expect(try newest(of: phone.configuration.authorities) == sets[23])
        #expect(try accept(try phone.senderSet(25, of: [newcomer])))
        #expect(try phone.stored.senderSets(for: Phone.topic).map(\.counter).sorted() == [24, 25])
    }

    @Test("While a newer set replaces one, no listing, however unlucky, shows none", arguments: [0, 2])
    func unluckyListing(call: Int) throws {
        #expect(try accept(try phone.senderSet(1, of: [newcomer])))
        let newer = try phone.senderSet(2, of: [newcomer])
        // A listing that misses everything added or removed meanwhile.
        let watch = WatchedItems.Watch(listed: { [self] number, before in
            guard number == call else { return before }
            _ = try? accept(newer)
            return before.filter(phone.memory.list().contains)
        })
        // Only the last listing misses the newer set, or only the one before.
        let found = try DeviceKeys(WatchedItems(phone.memory, watch))
            .senderSet(for: Phone.topic, of: phone.configuration.authorities)
        #expect(found?.counter == (call == 2 ? 1 : 2))
        #expect(try newest(of: phone.configuration.authorities) == newer)
    }
}
