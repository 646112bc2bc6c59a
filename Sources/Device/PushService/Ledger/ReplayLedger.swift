package import SealedPush

/// Remembers what has been opened, so that nothing opens twice. Source: Specification 7.
package protocol ReplayLedger: Sendable {
    /// Records a message before it is shown; durable when it returns.
    func record(_ entry: LedgerEntry, at now: Timestamp) throws(LedgerError) -> LedgerAnswer
    /// Forgets what the time rules refuse anyway; may take long, and may be cut off at any moment.
    func purge(at now: Timestamp)
}

/// One message as the ledger knows it.
package struct LedgerEntry: Sendable {
    /// 32 bytes.
    let key: [UInt8]
    let sent: Timestamp
    /// Under what the system delivers it.
    let requestIdentifier: String

    package init(key: [UInt8], sent: Timestamp, requestIdentifier: String) {
        self.key = key
        self.sent = sent
        self.requestIdentifier = requestIdentifier
    }
}

package enum LedgerAnswer: Sendable {
    case first
    /// Seen before under the same request identifier: it replaces itself on the screen, silently.
    case repeated
}

package enum LedgerError: Error, Equatable, Sendable {
    case replayed
    /// It could not be written, or not in time.
    case unavailable
}

package enum LedgerLimits {
    package static let maximumEntryCount = 20_000
    /// What the time budget of a push leaves for writing when nothing else has taken any.
    package static let writeTime = ServiceRun.timeBudget - timeAfterwards
    /// What a slow ledger leaves for the rest: while the content lies opened in memory, a write is worth waiting for.
    static let timeAfterwards = Duration.seconds(3)
}
