internal import PushCore
import PushOutbox

/// The ended logins that this process has seen. The outbox knows all of them, but asking it for each request of a thief
/// would delay others. Thread-safe.
final class EndedLogins: Sendable {
    private static let maximumCount = 100_000
    /// The moments up to which logins were ended, in milliseconds since 1970.
    private let moments = Locked<[UserName: Int64]>([:])

    func insert(_ user: UserName, at moment: Int64) {
        moments.withLock { moments in
            if moments.count >= Self.maximumCount {
                let oldest = OutboxClock.system.now() - Outbox.loginLifetime * 1_000
                moments = moments.filter { $0.value > oldest }
            }
            guard moments.count < Self.maximumCount else { return }
            moments[user] = max(moment, moments[user] ?? moment)
        }
    }

    /// A moment in the future is left to the outbox, because the clock may have been corrected since.
    func include(_ login: (user: UserName, issued: Int64)) -> Bool {
        guard let moment = moments.withLock({ $0[login.user] }) else { return false }
        return login.issued <= moment && moment <= OutboxClock.system.now()
    }
}
