import CoreFoundation
import Foundation
import Glibc
import PushCore
import PushKeyring
import SealedPush
import TestSupport
import Testing

@testable import PushService
@testable import PushSimulator

@Suite("A simulated phone's keychain") struct FileSecretItemsTests {
    private let folder: TemporaryFolder
    private let items: FileSecretItems

    init() throws {
        folder = try TemporaryFolder()
        items = FileSecretItems(in: folder.appending("keychain"))
    }

    private func item(_ account: String, _ attributes: String = "{}", secret: String = "secret") -> SecretItem {
        let bytes = Array(secret.utf8)
        return SecretItem(
            account: account, attributes: Array(attributes.utf8),
            secret: bytes.withUnsafeBytes { ItemSecret(copying: $0) })
    }

    private func text(_ secret: ItemSecret) -> String { secret.withBytes { String(decoding: $0, as: UTF8.self) } }

    @Test("a simulated keychain adds, reads, changes, and removes items by account, each once")
    func calls() throws {
        #expect(try items.list().isEmpty)
        #expect(throws: SecretItemError.notFound) { try items.secret(account: "a") }
        // The longest possible account, which is longer than a file name may be.
        let long = "senders \(String(repeating: "t", count: 155)) \(AuthorityPrivateKey().authority) \(UInt64.max)"
        let secret = "line one\nline two\n\0\u{fe}"
        try items.add(item(long, #"{"a":1}"#, secret: secret))
        try items.add(item("b c"))
        #expect(throws: SecretItemError.duplicate) { try items.add(item("b c", secret: "other")) }
        #expect(Set(try items.list().map(\.account)) == [long, "b c"])
        #expect(text(try items.secret(account: long)) == secret)
        #expect(text(try items.secret(account: "b c")) == "secret")

        let listed = try #require(try items.list().first { $0.account == long })
        try items.replace(listed, attributes: Array(#"{"a":2}"#.utf8))
        // The item has changed since it was read.
        #expect(throws: SecretItemError.notFound) { try items.replace(listed, attributes: Array("{}".utf8)) }
        #expect(try items.list().contains { $0.attributes == Array(#"{"a":2}"#.utf8) })
        #expect(text(try items.secret(account: long)) == secret)

        try items.remove(account: long)
        #expect(throws: SecretItemError.notFound) { try items.remove(account: long) }
        #expect(throws: SecretItemError.notFound) { try items.replace(listed, attributes: []) }
        #expect(try items.list().map(\.account) == ["b c"])
    }

    @Test("secrets are private, a file that others can read is refused, and removed secrets leave no trace")
    func files() throws {
        try items.add(item("a", secret: "very secret"))
        let keychain = folder.appending("keychain")
        func mode(_ url: URL) throws -> Int {
            try #require(try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int)
        }
        #expect(try mode(keychain) == 0o700)
        let files = try Checkout.allFiles(in: keychain)
        #expect(files.count == 2)
        for file in files { #expect(try mode(file) == 0o600) }
        let file = try #require(files.first { $0.lastPathComponent.hasPrefix("item.") })
        chmod(file.path, 0o640)
        #expect(throws: SecretItemError.other(EPERM)) { try items.secret(account: "a") }
        chmod(file.path, 0o600)
        let listed = try #require(try items.list().first)
        try items.replace(listed, attributes: Array(#"{"x":1}"#.utf8))
        #expect(try mode(file) == 0o600)
        try items.remove(account: "a")
        for file in try Checkout.allFiles(in: keychain) { #expect(try !Checkout.text(file).contains("very secret")) }
    }

    @Test("before the first unlock, a simulated keychain can be neither read nor changed") func locked() throws {
        try items.add(item("a"))
        let listed = try #require(try items.list().first)
        let locked = FileSecretItems(in: folder.appending("keychain"), isLocked: true)
        #expect(throws: SecretItemError.locked) { try locked.list() }
        #expect(throws: SecretItemError.locked) { try locked.secret(account: "a") }
        #expect(throws: SecretItemError.locked) { try locked.add(item("b")) }
        #expect(throws: SecretItemError.locked) { try locked.replace(listed, attributes: []) }
        #expect(throws: SecretItemError.locked) { try locked.remove(account: "a") }
        #expect(try items.list() == [listed])
    }

    @Test("a damaged file is skipped, and leftovers are removed after a while") func damage() throws {
        try items.add(item("a"))
        try folder.write("nothing", to: "keychain/item.00")
        let left = try folder.write("a\n{}\nsecret", to: "keychain/tmp.1")
        #expect(try items.list().map(\.account) == ["a"])
        var times = [timeval(tv_sec: time(nil) - 90, tv_usec: 0), timeval(tv_sec: time(nil) - 90, tv_usec: 0)]
        utimes(left, &times)
        try items.add(item("b"))
        #expect(!FileManager.default.fileExists(atPath: left))
    }

    @Test("a listing waits for a change in progress, and shows its result") func waiting() async throws {
        try items.add(item("0"))
        let keychain = folder.appending("keychain")
        let lock = open(keychain.appending(path: "lock").path, O_RDONLY | O_CLOEXEC)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX) == 0)
        // A change by another process is halfway done: the old item is gone, and the new one isn't there yet.
        let place = try #require(try Checkout.allFiles(in: keychain).first { $0.lastPathComponent.hasPrefix("item.") })
        try FileManager.default.moveItem(at: place, to: folder.appending("away"))
        let (items, seen) = (items, Locked<[String]?>(nil))
        let listing = Task.detached {
            let accounts = try items.list().map(\.account)
            seen.withLock { $0 = accounts }
        }
        let facts = try FileManager.default.attributesOfItem(atPath: keychain.appending(path: "lock").path)
        let number = try #require(facts[.systemFileNumber] as? Int)
        try await eventually("the listing waits, or has ended") {
            if seen.withLock({ $0 != nil }) { return true }
            // `2: -> FLOCK  ADVISORY  READ 6361 fe:00:16237227 0 EOF`
            return try Checkout.text(URL(filePath: "/proc/locks")).split(separator: "\n").contains {
                $0.contains("-> FLOCK") && $0.contains(":\(number) ")
            }
        }
        try FileManager.default.moveItem(at: folder.appending("away"), to: place)
        #expect(flock(lock, LOCK_UN) == 0)
        try await listing.value
        #expect(seen.withLock { $0 } == ["0"])
    }

    @Test("many threads that increment one item lose no step") func turns() async throws {
        try items.add(item("counter", "0"))
        let items = items
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<10 {
                        while true {
                            guard let listed = try? items.list().first(where: { $0.account == "counter" }),
                                let number = Int(String(decoding: listed.attributes, as: UTF8.self))
                            else { continue }
                            if (try? items.replace(listed, attributes: Array("\(number + 1)".utf8))) != nil { break }
                        }
                    }
                }
            }
        }
        #expect(try items.list().map(\.attributes) == [Array("40".utf8)])
    }
}

@Suite("A simulated phone and its app") struct SimulatedDeviceTests {
    private let folder: TemporaryFolder
    private let phone: SimulatedDevice
    private let start = Timestamp.now().advanced(bySeconds: -86_400)

    init() throws {
        folder = try TemporaryFolder()
        phone = SimulatedDevice(container: folder.appending("State"))
    }

    private func later(_ seconds: Int64) -> Timestamp { start.advanced(bySeconds: seconds) }

    private var app: OwnDevice { get throws { try #require(phone.app(for: "com.example.app")) } }

    @Test("a phone adopts keys that were created elsewhere, with their states") func adopting() throws {
        try PushDelivery.prepareContainer(phone.container, keyCreated: start.secondsSince1970)
        let (old, new) = (DevicePrivateKey(), DevicePrivateKey())
        var life = KeyLife(created: start, confirmed: start)
        func adopt(_ keys: [(DevicePrivateKey, KeyLife)], destroying gone: [DevicePublicKey] = []) throws {
            try phone.adopt(keys.map { DeviceKey($0.0, life: $0.1) }, destroying: gone, enrollment: nil)
        }
        try adopt([(old, life)])
        try adopt([(new, KeyLife(created: later(1))), (old, life)])
        #expect(try phone.rotation.active.map(\.key) == [new.recipient, old.recipient])
        #expect(try phone.rotation.unconfirmed?.key == new.recipient)
        // The key has the same state here as there; a key of the phone's own stays.
        life.retire(at: later(2))
        try adopt([(new, KeyLife(created: later(1), confirmed: later(2))), (old, life)])
        #expect(try phone.rotation.active.map(\.key) == [new.recipient])
        #expect(try phone.rotation.life(of: old.recipient)?.retired == later(2))
        let own = try app.rotate(at: later(4)).recipients[0]
        // A key that is revoked there is destroyed here.
        try adopt([(old, life)], destroying: [new.recipient])
        #expect(try phone.rotation.members.map(\.key) == [own, old.recipient])
    }

    @Test("new keys are of the kind of the phone's newest key", arguments: [false, true])
    func kind(isHybrid: Bool) throws {
        try PushDelivery.prepareContainer(phone.container, keyCreated: start.secondsSince1970)
        var standard = StandardConfiguration(
            topic: "com.example.app", senders: [], safeDefault: "New", allowsAnonymous: false)
        standard.isHybrid = isHybrid
        let first = try #require(phone.app(standard)).enroll(at: start)
        #expect(first.recipients.map(\.isHybrid) == [isHybrid])
        let maintained = try app.maintain(at: later(1))
        #expect(maintained.rotated == nil && maintained.record == first)
        #expect(try app.rotate(at: later(2)).recipients.map(\.isHybrid) == [isHybrid, isHybrid])
    }

    @Test("a phone adopts the enrollment key with its counter, so that the server accepts its signatures")
    func adoptedEnrollment() throws {
        try PushDelivery.prepareContainer(phone.container, keyCreated: start.secondsSince1970)
        let keyring = Keyring(folder: folder.appending("Keys"))
        let recipient = try keyring.generateDevice(named: "phone", topic: "com.example.app", at: start)
        func adopt() throws {
            try phone.adopt(
                keyring.deviceKeys(named: "phone"), destroying: [], enrollment: keyring.enrollment(named: "phone"))
        }
        try adopt()
        let record = try #require(try keyring.entry(named: "phone").record)
        #expect(try app.maintain(at: start).record == record)
        let rotated = try app.rotate(at: later(9))
        try rotated.check(pinned: record.enrollment, topic: "com.example.app", replacing: record, at: later(9))
        #expect(rotated.recipients[1] == recipient)
        // An older record there changes nothing here.
        try adopt()
        #expect(try app.enroll(at: later(10)) == rotated)
    }
}
