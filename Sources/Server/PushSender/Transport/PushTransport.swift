/// Delivers sealed pushes to one carrier's addresses: APNs over HTTP/2 (`PushAPNs`), or another service.
///
/// It's called from many tasks at once. An implementation bounds every wait, and translates the service's responses into a
/// ``PushOutcome``. It answers a push for another carrier's address with ``PushOutcome/change(_:)``.
public protocol PushTransport: Sendable {
    /// Sends one push and waits for the response.
    ///
    /// - Throws: ``PushTransportError`` if there was no response. The push may still have been delivered.
    func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome
}
