package import Foundation
package import PushSender
package import PushService
package import PushSimulator
package import SealedPush

/// The app on one simulated phone. Creates and maintains the phone's keys with an app's own calls, in a process other
/// than the one that runs its extension.
package struct PhoneApp: Sendable {
    package let phone: SimulatedDevice
    /// The device that an app gets from its `ServiceConfiguration`.
    package let device: OwnDevice

    /// - Parameter folder: The phone's own folder.
    package init(in folder: URL, trusting newsroom: Newsroom) throws {
        phone = SimulatedDevice(container: folder)
        let standard = StandardConfiguration(
            topic: Newsroom.topic.description, senders: [], authorities: [newsroom.trusted],
            safeDefault: "safe default", allowsAnonymous: false)
        guard let device = phone.app(standard) else { throw CocoaError(.featureUnsupported) }
        self.device = device
    }

    /// Whether a message has opened with an unconfirmed key, so that there is something to maintain.
    package var hasNews: Bool {
        get throws { try phone.rotation.unconfirmed.map { phone.hasOpened(under: $0.key) } ?? false }
    }
}

/// The sender to the phones, which asks each to prove its keys. Apps pin its authority, and trust its sender only through
/// a sender set.
package struct Newsroom: Sendable {
    package static let topic: Topic = "com.example.app"
    /// The alert that is sent in the clear.
    package static let safeDefault: WireAlert = "You have a new message!"
    package let sender = SenderPrivateKey()
    private let authority = AuthorityPrivateKey()

    package init() {}

    /// The authority's public key, for `--trust` and for an app's own `authorities`.
    package var trusted: String { authority.authority.description }

    package func senderSet(_ counter: UInt64, at now: Timestamp) throws -> SenderSet {
        try SenderSet(
            of: [sender.sender], topic: Self.topic, counter: counter, created: now,
            expires: now.advanced(bySeconds: 30 * 86_400), signedBy: authority)
    }

    /// Runs a phone's first launch: its app accepts the sender set, enrolls, and proves its key.
    package func enroll(_ app: PhoneApp, at now: Timestamp) throws -> EnrolledDevice {
        try app.device.accept(senderSet: senderSet(1, at: now).description, at: now)
        var server = try EnrolledDevice(pinning: app.device.enroll(at: now), topic: Self.topic, at: now)
        try prove(app, to: &server, at: now)
        return server
    }

    /// Accepts a record from an app on the server, and has its new keys proven.
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
