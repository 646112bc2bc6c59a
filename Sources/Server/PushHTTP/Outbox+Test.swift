internal import Hummingbird
internal import PushOutbox
internal import PushSender
internal import SealedPush

extension Outbox {
    /// Sends a fixed text, so that a person can see that pushes work.
    func sendTest(to audience: Audience, from sealer: Sealer) async throws -> Response {
        let content = Content(title: "Test", body: "It works: this message was sealed for this device alone.")
        let report = try await enqueue(
            OutgoingMessage(content, expiration: Timestamp.now().advanced(bySeconds: 3_600)), to: audience, from: sealer
        )
        return .json(.object(report.json), status: .accepted)
    }
}
