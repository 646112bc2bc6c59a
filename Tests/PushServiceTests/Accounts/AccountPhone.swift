import Foundation
import PushCore
import PushSender
import PushServiceTesting
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

// Apple's classes of what was delivered have no public initializers.
#if !canImport(Darwin)
/// A phone with an app that has an account of its own and others at servers that its user chose.
struct AccountPhone {
    let items = InMemorySecretItems()
    let folder: TemporaryFolder
    /// The sender of the account without a name.
    let own = SenderPrivateKey()
    // Safe, because a lock protects its state.
    nonisolated(unsafe) let center = UNUserNotificationCenter()
    static let topic: Topic = "com.example.app"

    init() throws { folder = try TemporaryFolder() }

    /// The app's configuration.
    ///
    /// - Parameter watched: The keychain as this process sees it.
    func app(_ watched: (any SecretItems)? = nil, stages: [any ServiceStage] = []) -> ServiceConfiguration {
        let items = watched ?? self.items
        nonisolated(unsafe) let center = center
        var app = ServiceConfiguration(
            topic: Self.topic, keys: .items(items), trusting: [own.sender],
            safeDefault: SafeDefault(title: "App", body: "local default"), container: .folder(folder.url),
            stages: stages)
        app.environment = DeviceEnvironment(
            keychain: { _ in items }, appGroup: { _ in nil }, scratchRoot: folder.appending("tmp"),
            fetcher: NoAnswers(), budget: WorkBudget())
        app.environment.center = { center }
        return app
    }

    var accounts: DeviceAccounts { app().accounts }

    /// Adds an account and enrolls it.
    @discardableResult func add(_ name: AccountName, at server: AccountServer) async throws -> Enrolled {
        try enroll(try await accounts.add(server.account(name)))
    }

    func enroll(_ configuration: ServiceConfiguration) throws -> Enrolled {
        let device = OwnDevice(configuration, environment: configuration.environment)
        return Enrolled(configuration: configuration, key: try device.enroll().recipients[0])
    }

    /// The extension handles a push, and the system shows the result before the extension cleans up.
    @discardableResult func show(
        _ field: String, as identifier: String = UUID().uuidString, by app: ServiceConfiguration? = nil
    ) async -> Shown {
        let app = app ?? self.app()
        let service = TestedService(app)
        service.environment = app.environment
        nonisolated(unsafe) let center = center
        let shown = await withCheckedContinuation { continuation in
            service.didReceive(Fixture.request(field: field, identifier: identifier)) { content in
                nonisolated(unsafe) let content = content
                if !content.body.isEmpty {
                    let request = UNNotificationRequest(identifier: identifier, content: content, trigger: nil)
                    center.deliver(UNNotification(request: request, date: .now))
                }
                continuation.resume(returning: Shown(content))
            }
        }
        await service.tidied()
        return shown
    }

    /// The identifiers of the notifications on the screen.
    var list: [String] { center.notifications.map(\.request.identifier) }

    /// The names of the accounts' folders.
    var folders: [String] {
        let path = folder.appending("SealedPush/accounts").path(percentEncoded: false)
        return (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }
}

/// An account's configuration, and the key to which its server seals.
struct Enrolled {
    let configuration: ServiceConfiguration
    let key: DevicePublicKey

    var folder: URL { get throws { try #require(configuration.folder) } }
    var badge: BadgeCount { get throws { BadgeCount(in: try folder) } }
    var receipts: ReceiptQueue { get throws { ReceiptQueue(in: try folder) } }
}

/// A server with a sender and an authority of its own.
struct AccountServer {
    let host: String
    let sender = SenderPrivateKey()
    let authority = AuthorityPrivateKey()

    func account(_ name: AccountName, safeDefault: SafeDefault? = nil) -> PushAccount {
        PushAccount(
            name, server: URL(string: "https://\(host)/push")!, trusting: [sender.sender],
            authorities: [authority.authority], safeDefault: safeDefault)
    }

    func seal(
        _ content: Content, to device: Enrolled, from other: SenderPrivateKey? = nil, receipts: String? = nil
    ) throws -> String {
        try Sealer(
            sender: other ?? sender, topic: AccountPhone.topic, safeDefault: "wire default",
            receipts: receipts.flatMap(ReceiptAddress.init(parsing:))
        ).seal(content, toUnverified: device.key).envelope.text
    }

    func seal(_ text: String, to device: Enrolled) throws -> String { try seal(Content(body: text), to: device) }
}

/// What a notification tells.
struct Shown: Equatable {
    let title: String
    let body: String
    let badge: Int?
    let account: AccountName?
    let reason: OpenError?

    init(_ content: UNNotificationContent) {
        let sealed = SealedNotification(userInfo: content.userInfo)
        (title, body, badge) = (content.title, content.body, content.badge?.intValue)
        (account, reason) = (sealed?.account, sealed?.reason)
    }
}

/// A network without servers.
private struct NoAnswers: Fetching {
    func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer { throw .network }
}
#endif
