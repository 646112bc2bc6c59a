import Foundation
import PushService
internal import SealedPush

extension StandardConfiguration {
    /// Returns the configuration with this phone's environment, or nil if it isn't valid.
    func configuration(on device: SimulatedDevice, _ center: PhoneCenter) -> ServiceConfiguration? {
        var configuration = configuration(container: device.container)
        configuration?.environment = device.environment()
        configuration?.environment.center = { center.value }
        return configuration
    }

    func configuration(container: URL) -> ServiceConfiguration? {
        guard let topic = Topic(parsing: topic) else { return nil }
        let trusted = senders.compactMap { try? SenderPublicKey(parsing: $0) }
        let pinned = authorities.compactMap { try? AuthorityPublicKey(parsing: $0) }
        guard trusted.count == senders.count, pinned.count == authorities.count, VisibleText.isVisible(safeDefault)
        else { return nil }
        return ServiceConfiguration(
            topic: topic, keys: .keychain(accessGroup: "simulated"), trusting: trusted,
            authorities: pinned, safeDefault: SafeDefault(body: safeDefault), container: .folder(container),
            allowsAnonymous: allowsAnonymous, keyPolicy: isHybrid ? .hybrid : .classical,
            stages: [OverflowStage(), MediaStage(), ReceiptStage(hosts: [])])
    }
}

/// The configuration of the simulator's own extension.
package struct StandardConfiguration: Codable, Sendable {
    package var topic: String
    package var senders: [String]
    package var authorities: [String]
    package var safeDefault: String
    package var allowsAnonymous: Bool
    /// Whether the app creates hybrid keys.
    package var isHybrid = false

    package init(
        topic: String, senders: [String], authorities: [String] = [], safeDefault: String, allowsAnonymous: Bool
    ) {
        self.topic = topic
        self.senders = senders
        self.authorities = authorities
        self.safeDefault = safeDefault
        self.allowsAnonymous = allowsAnonymous
    }
}
