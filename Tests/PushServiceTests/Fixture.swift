import Dispatch
import Foundation
import PushSender
import SealedPush
import TestSupport
import UserNotifications

@testable import PushService

/// A sender, a phone and a server that seals; what a test of the service module begins with.
struct Fixture {
    let sender = SenderPrivateKey()
    let phone = DevicePrivateKey()
    let folder: TemporaryFolder
    let now = Timestamp.now()
    /// Of a process of its own.
    let budget = WorkBudget()
    static let topic: Topic = "com.example.app"

    init() throws { folder = try TemporaryFolder() }

    var sealer: Sealer { Sealer(sender: sender, topic: Self.topic, safeDefault: "wire default") }

    var keys: InMemorySecretItems {
        InMemorySecretItems([StoredKey.item(phone, life: KeyLife(created: now, confirmed: now))])
    }

    func configuration(
        keys: (any SecretItems)? = nil, allowsAnonymous: Bool = false, receivesPlainPushes: Bool = false,
        stages: [any ServiceStage] = []
    ) -> ServiceConfiguration {
        ServiceConfiguration(
            topic: Self.topic, keys: .items(keys ?? self.keys), trusting: [sender.sender],
            safeDefault: SafeDefault(title: "App", body: "local default"), container: .folder(folder.url),
            allowsAnonymous: allowsAnonymous, receivesPlainPushes: receivesPlainPushes, stages: stages)
    }

    /// Where stages make their files.
    var scratchRoot: URL { folder.appending("tmp") }

    var environment: DeviceEnvironment {
        let keys = keys
        let container = folder.url
        return DeviceEnvironment(
            keychain: { _ in keys }, appGroup: { _ in container }, scratchRoot: scratchRoot,
            fetcher: Loader.standard.fetcher, budget: budget)
    }

    var ledger: FileLedger { FileLedger(folder: folder.appending("SealedPush").appending(path: "ledger")) }

    func beginLedger() throws {
        try ledger.begin(floor: now.advanced(bySeconds: -60), asksForNewKey: false)
    }

    func seal(_ content: Content = Content(title: "Nina", body: "Lunch at one?")) throws -> String {
        try sealer.seal(content, toUnverified: phone.recipient).envelope.text
    }

    /// A request as iOS makes it, with an alert, sound, badge and keys of the carrier's own around the field.
    static func request(field: Any?, identifier: String = UUID().uuidString) -> UNNotificationRequest {
        let content = UNMutableNotificationContent()
        content.title = "WIRE"
        content.subtitle = "WIRE"
        content.body = "WIRE"
        content.badge = 99
        content.sound = .defaultCritical
        content.threadIdentifier = "WIRE"
        content.categoryIdentifier = "WIRE"
        content.targetContentIdentifier = "WIRE"
        content.filterCriteria = "WIRE"
        content.launchImageName = "WIRE"
        content.relevanceScore = 0.9
        content.interruptionLevel = .critical
        content.userInfo = [
            "aps": ["alert": "WIRE", "sound": "WIRE"], "WIRE": "WIRE",
            "sealed-push": ["outcome": "opened", "data": "WIRE", "id": "WIRE"],
        ]
        if let field { content.userInfo["custom-encrypted-message"] = field }
        #if canImport(Darwin)
            // Apple's can't be made.
            let trigger: UNNotificationTrigger? = nil
        #else
            let trigger = UNPushNotificationTrigger()
        #endif
        return UNNotificationRequest(identifier: identifier, content: content, trigger: trigger)
    }
}

/// The service module with a configuration from a test.
final class TestedService: SealedNotificationService {
    private let fixed: ServiceConfiguration

    init(_ configuration: ServiceConfiguration) { fixed = configuration }

    override var configuration: ServiceConfiguration { fixed }
}

/// Calls a service and waits for its handler.
func receive(_ request: UNNotificationRequest, _ service: SealedNotificationService) async -> UNNotificationContent {
    await withCheckedContinuation { continuation in
        service.didReceive(request) { content in
            nonisolated(unsafe) let content = content
            continuation.resume(returning: content)
        }
    }
}

extension SealedNotificationService {
    /// Waits until nothing is left to tidy up, without holding a thread.
    func tidied() async {
        await withCheckedContinuation { continuation in
            tidying.notify(queue: DispatchQueue(label: "tidied")) { continuation.resume() }
        }
    }
}
