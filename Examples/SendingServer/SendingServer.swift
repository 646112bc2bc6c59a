import Foundation
import Logging
import PushAPNs
import PushOutbox
import PushSender
import ServiceLifecycle

/// A server that sends pushes. A message is durable once `enqueue` returns, and a courier delivers messages until SIGTERM.
@main
struct SendingServer {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        let file = try Data(contentsOf: URL(filePath: environment["PROVIDER_KEY_FILE"] ?? "AuthKey.p8"))
        let sealer = Sealer(
            sender: try SenderPrivateKey(parsing: environment["SENDER_SECRET"] ?? ""), topic: "com.example.app",
            safeDefault: "You have a new message!")
        let logger = Logger(label: "push")

        let key = try ProviderKey(pem: Array(file), keyID: "ABCDE12345", teamID: "FGHIJ67890")
        let apns = try APNsTransport(APNsConfiguration(endpoint: .production, key: key))
        let outbox = try Outbox(at: "/var/lib/push/outbox.sqlite")
        let courier = Courier(for: outbox, through: apns)
        let group = ServiceGroup(
            services: [apns, Delivery(courier: courier)], gracefulShutdownSignals: [.sigterm], logger: logger)

        try await outbox.enqueue(
            OutgoingMessage(Content(title: "Nina", body: "Lunch at one?"), key: IdempotencyKey("lunch-8812")),
            to: .user("alice"), from: sealer)
        try await group.run()
    }
}

/// Delivers until the server shuts down, and then waits for pushes in transit.
struct Delivery: Service {
    let courier: Courier

    func run() async throws {
        _ = try await withGracefulShutdownHandler {
            try await courier.run()
        } onGracefulShutdown: {
            Task { await courier.stop() }
        }
    }
}
