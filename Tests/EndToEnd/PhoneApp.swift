package import Foundation
package import PushSender
package import PushService
package import PushSimulator
package import SealedPush

/// The app on one simulated phone: makes the phone's keys and looks after them by an app's own calls, in another
/// process than the one that runs its extension.
package struct PhoneApp: Sendable {
    package let phone: SimulatedDevice
    /// What an app gets from its `ServiceConfiguration`.
    package let device: OwnDevice

    /// - Parameter folder: the phone's own.
    package init(in folder: URL, trusting newsroom: Newsroom) throws {
        phone = SimulatedDevice(container: folder)
        let standard = StandardConfiguration(
            topic: Newsroom.topic.description, senders: [], authorities: [newsroom.trusted],
            safeDefault: "safe default", allowsAnonymous: false)
        guard let device = phone.app(standard) else { throw CocoaError(.featureUnsupported) }
        self.device = device
    }

    /// Whether a key waits under which a message has opened, so that there is something to maintain.
    package var hasNews: Bool {
        get throws { try phone.rotation.unconfirmed.map { phone.hasOpened(under: $0.key) } ?? false }
    }
}

/// Who sends to phones, and asks each to prove what it hands over. Apps believe its authority, and its sender by a set
/// alone.
package struct Newsroom: Sendable {
    package static let topic: Topic = "com.example.app"
    /// What travels in the clear.
    package static let safeDefault: WireAlert = "You have a new message!"
    package let sender = SenderPrivateKey()
    private let authority = AuthorityPrivateKey()

    package init() {}

    /// For `--trust`, and for an app's own `authorities`.
    package var trusted: String { authority.authority.description }

    package func senderSet(_ counter: UInt64, at now: Timestamp) throws -> SenderSet {
        try SenderSet(
            of: [sender.sender], topic: Self.topic, counter: counter, created: now,
            expires: now.advanced(bySeconds: 30 * 86_400), signedBy: authority)
    }

    /// A phone's first launch: its app takes the sender set and enrolls, and proves its key.
    package func enroll(_ app: PhoneApp, at now: Timestamp) throws -> EnrolledDevice {
        try app.device.accept(senderSet: senderSet(1, at: now).description, at: now)
        var server = try EnrolledDevice(pinning: app.device.enroll(at: now), topic: Self.topic, at: now)
        try prove(app, to: &server, at: now)
        return server
    }

    /// The server takes a record that an app hands over, and has the new keys in it proven.
    package func take(
        _ record: DeviceRecord, of app: PhoneApp, to server: inout EnrolledDevice, at now: Timestamp
    ) throws {
        try server.accept(record, at: now)
        try prove(app, to: &server, at: now)
    }

    private func prove(_ app: PhoneApp, to server: inout EnrolledDevice, at now: Timestamp) throws {
        for recipient in server.unproven {
            let challenge = PendingChallenge(
                to: recipient, of: server.enrollment, topic: Self.topic, from: sender, at: now)
            try server.prove(challenge, answer: app.device.answer(challenge: challenge.text, at: now), at: now)
        }
    }
}
