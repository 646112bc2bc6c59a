package import Foundation
internal import PushKeyring
package import PushSender
package import PushSimulator
package import SealedPush
package import TestSupport

/// A keyring with a device and a sender, and a folder for the device's state, for use with the built programs.
package struct Device {
    package let folder: TemporaryFolder
    package let recipient: DevicePublicKey
    package let sender: SenderPrivateKey
    package static let topic: Topic = "com.example.app"

    private let created: Timestamp

    /// - Parameter age: The age of the keys in seconds, so that they precede every message even if the clock doesn't advance.
    package init(age: Int64 = 3_600) throws {
        folder = try TemporaryFolder()
        let keyring = Keyring(folder: folder.appending("Keys"))
        created = .now().advanced(bySeconds: -age)
        recipient = try keyring.generateDevice(named: Self.name("phone"), at: created)
        _ = try keyring.generateSender(named: Self.name("newsroom"), at: created)
        sender = try keyring.senderKey(named: Self.name("newsroom"))
    }

    private static func name(_ text: String) throws -> KeyName {
        guard let name = KeyName(parsing: text) else { throw CocoaError(.featureUnsupported) }
        return name
    }

    package func seal(_ content: Content = Content(title: "Nina", body: "Lunch at one?")) throws -> SealedPayload {
        try Sealer(sender: sender, topic: Self.topic, safeDefault: "wire default").seal(
            content, toUnverified: recipient)
    }

    /// Returns a separate phone in a folder, with the device's keys in its keychain.
    package func phone(in container: URL) throws -> SimulatedDevice {
        let keys = try Keyring(folder: folder.appending("Keys")).deviceKeys(named: Self.name("phone"))
        try PushDelivery.prepareContainer(container, keyCreated: created.secondsSince1970)
        let phone = SimulatedDevice(container: container)
        try phone.adopt(keys, destroying: [], enrollment: nil)
        return phone
    }

    /// Writes a payload to a file and returns its path.
    package func file(_ payload: SealedPayload, _ name: String = UUID().uuidString) throws -> String {
        try folder.write(String(decoding: payload.json, as: UTF8.self), to: name)
    }

    package func arguments(_ file: String, _ more: [String] = [], state: String? = "State") -> [String] {
        var arguments = ["deliver", file, "--device", "phone", "--trust", "newsroom"]
        arguments += ["--topic", Self.topic.description, "--keyring", folder.appending("Keys").path, "--json"]
        if let state { arguments += ["--state", folder.appending(state).path] }
        return arguments + more
    }

    /// Delivers a file and returns the object that the program printed.
    package func deliver(_ file: String, _ more: [String] = [], state: String? = "State") throws -> Delivered {
        let result = try Program("device-simulator").run(arguments(file, more, state: state))
        guard result.status == 0, let object = result.objects.first else {
            throw Failed(description: "status \(result.status): \(result.errors)")
        }
        return Delivered(object: object)
    }

    package struct Failed: Error, CustomStringConvertible { package let description: String }

    package struct Delivered {
        package let object: [String: Any]

        package init(object: [String: Any]) { self.object = object }

        package var outcome: String { object["outcome"] as? String ?? "" }
        package var reason: String? { object["reason"] as? String }
        package var title: String? { object["title"] as? String }
        package var body: String? { object["body"] as? String }
        package var note: String? { object["note"] as? String }
        package var remarks: [String] { object["remarks"] as? [String] ?? [] }
        package var attachments: [[String: Any]] { object["attachments"] as? [[String: Any]] ?? [] }
    }
}
