import PushOutbox

extension Outbox {
    /// Returns the devices' rows that aren't valid registrations; nil if PostgreSQL's login may not read the devices' keys, as
    /// that of a service that only delivers.
    func readableUnusableDevices() async throws(OutboxError) -> [UnusableDevice]? {
        do { return try await unusableDevices() } catch .notPermitted { return nil }
    }
}
