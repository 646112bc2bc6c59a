import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport

@testable import PushService

/// A device whose keychain is the test's own, and the server that seals for it.
struct Phone {
    let items: any SecretItems
    let folder: TemporaryFolder
    let sender: SenderPrivateKey
    let authority: AuthorityPrivateKey
    static let topic: Topic = "com.example.app"
    /// When everything begins.
    static let start = Timestamp(clamping: 1_800_000_000)

    init(_ items: any SecretItems = InMemorySecretItems()) throws {
        self.items = items
        folder = try TemporaryFolder()
        sender = SenderPrivateKey()
        authority = AuthorityPrivateKey()
    }

    private init(_ phone: Phone, _ items: any SecretItems) {
        self.items = items
        folder = phone.folder
        sender = phone.sender
        authority = phone.authority
    }

    /// The same device, asked by another way.
    func with(_ items: any SecretItems) -> Phone { Phone(self, items) }

    var configuration: ServiceConfiguration {
        ServiceConfiguration(
            topic: Self.topic, keys: .items(items), trusting: [sender.sender],
            authorities: [authority.authority], safeDefault: SafeDefault(title: "App", body: "local default"),
            container: .folder(folder.url))
    }

    var device: OwnDevice { configuration.device }
    private var root: URL { folder.appending("SealedPush") }
    var markers: ConfirmationMarkers { ConfirmationMarkers(in: root) }
    var ledger: FileLedger { FileLedger(folder: root.appending(path: "ledger")) }

    /// What is stored, whatever the items answer to the device.
    var stored: StoredItems {
        get throws { StoredItems(try items.list()) }
    }

    /// Every item with its secret.
    var wholeItems: [SecretItem] {
        get throws {
            try items.list().map { item in
                SecretItem(
                    account: item.account, attributes: item.attributes,
                    secret: try items.secret(account: item.account))
            }
        }
    }

    func seal(to recipient: DevicePublicKey, sent: Timestamp, from other: SenderPrivateKey? = nil) throws -> Envelope {
        var content = Content(body: "b")
        content.sent = sent
        return try Sealer(sender: other ?? sender, topic: Self.topic, safeDefault: "wire default")
            .seal(content, toUnverified: recipient).envelope
    }

    /// As the extension does, without a ledger.
    func open(_ envelope: Envelope, at now: Timestamp) throws(OpenError) -> OpenedContent {
        try Opener(topic: Self.topic, keys: DeviceKeys(items), trusting: configuration.trusted).open(envelope, at: now)
    }

    func senderSet(
        _ counter: UInt64, of senders: [SenderPrivateKey], by key: AuthorityPrivateKey? = nil, at now: Timestamp = start
    ) throws -> SenderSet {
        try SenderSet(
            of: senders.map(\.sender), topic: Self.topic, counter: counter, created: now,
            expires: now.advanced(bySeconds: 90 * 86_400), signedBy: key ?? authority)
    }
}

/// Items that let a test run something at each call: fail it, or be another process.
final class WatchedItems: SecretItems {
    private let inner: InMemorySecretItems
    private let state: Locked<State>

    struct State {
        var callCount = 0
        var writeCount = 0
        /// Secrets that were read.
        var secretCount = 0
    }

    /// What happens at a call; the number counts from 0.
    struct Watch: Sendable {
        var beforeCall: @Sendable (Int) throws(SecretItemError) -> Void = { _ in }
        var beforeWrite: @Sendable (Int) throws(SecretItemError) -> Void = { _ in }
        var afterWrite: @Sendable (Int) throws(SecretItemError) -> Void = { _ in }
    }

    private let watch: Watch

    init(_ items: InMemorySecretItems, _ watch: Watch = Watch()) {
        inner = items
        self.watch = watch
        state = Locked(State())
    }

    var counts: State { state.withLock { $0 } }

    func list() throws(SecretItemError) -> [ListedItem] {
        try count()
        return inner.list()
    }

    func secret(account: String) throws(SecretItemError) -> ItemSecret {
        try count()
        state.withLock { $0.secretCount += 1 }
        return try inner.secret(account: account)
    }

    func add(_ item: SecretItem) throws(SecretItemError) {
        try write { () throws(SecretItemError) in try inner.add(item) }
    }

    func replace(_ item: ListedItem, attributes: [UInt8]) throws(SecretItemError) {
        try write { () throws(SecretItemError) in try inner.replace(item, attributes: attributes) }
    }

    func remove(account: String) throws(SecretItemError) {
        try write { () throws(SecretItemError) in try inner.remove(account: account) }
    }

    private func count() throws(SecretItemError) {
        let number = state.withLock { state in
            state.callCount += 1
            return state.callCount - 1
        }
        try watch.beforeCall(number)
    }

    private func write(_ body: () throws(SecretItemError) -> Void) throws(SecretItemError) {
        try count()
        let number = state.withLock { state in
            state.writeCount += 1
            return state.writeCount - 1
        }
        try watch.beforeWrite(number)
        try body()
        try watch.afterWrite(number)
    }
}
