// error: result of call to 'deliver' is unused
import PushSender

/// A push that Apple refuses is an outcome, not an error.
func send(_ request: PushRequest, through transport: some PushTransport) async throws {
    try await transport.deliver(request)  // refused
}
