import Foundation
package import SealedPush

extension Timestamp {
    /// As `2026-01-31T12:00:00Z`.
    package var iso8601: String { Date(timeIntervalSince1970: TimeInterval(secondsSince1970)).formatted(.iso8601) }

    /// Nil for anything that ``iso8601`` does not give.
    package init?(iso8601 text: String) {
        guard text.utf8.count == 20, let date = try? Date(text, strategy: .iso8601),
            let moment = Timestamp(secondsSince1970: Int64(date.timeIntervalSince1970)), moment.iso8601 == text
        else { return nil }
        self = moment
    }
}
