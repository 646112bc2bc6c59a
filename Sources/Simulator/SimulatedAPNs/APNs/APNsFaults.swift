package import Foundation

/// The faults to inject. Chances are from 0 to 1, and each is drawn for every request that would have been accepted.
package struct APNsFaults: Codable, Hashable, Sendable {
    /// The range from which each response's delay is drawn.
    package var latencyMillisecondsMinimum = 0
    package var latencyMillisecondsMaximum = 0
    /// Delivered, but never answered.
    package var lostResponses = 0.0
    /// RST_STREAM instead of a response; a second draw decides whether the notification is delivered.
    package var resets = 0.0
    /// 429 `TooManyRequests`, not delivered.
    package var tooManyRequests = 0.0
    /// 500 `InternalServerError`, not delivered.
    package var serverErrors = 0.0
    /// 503 `ServiceUnavailable`, not delivered.
    package var unavailable = 0.0
    /// Delivered twice.
    package var duplicates = 0.0
    /// The number of requests on a connection after which the server sends GOAWAY; 0 for never.
    package var goAwayEvery = 0

    /// The limit of streams on a connection from an error until the next success; 1 was observed on Apple's servers.
    package var streamsAfterError = 1

    package init() {}

    /// Reads a JSON object of numbers. An absent member keeps its default. Returns nil if there is an unknown member or a
    /// number out of range.
    package init?(parsing json: Data) {
        guard let given = try? JSONDecoder().decode([String: Double].self, from: json),
            let defaults = try? JSONEncoder().encode(APNsFaults()),
            let known = try? JSONDecoder().decode([String: Double].self, from: defaults),
            given.keys.allSatisfy({ known[$0] != nil }),
            let merged = try? JSONEncoder().encode(known.merging(given) { $1 }),
            let faults = try? JSONDecoder().decode(Self.self, from: merged), faults.isValid
        else { return nil }
        self = faults
    }

    package static let rule: String = {
        let names = (try? JSONSerialization.jsonObject(with: JSONEncoder().encode(APNsFaults()))) as? [String: Any]
        return "faults must be a JSON object: chances from 0 to 1, latencies of at most ten minutes; its members are "
            + (names ?? [:]).keys.sorted().joined(separator: ", ")
    }()

    /// Whether each number is in its range.
    package var isValid: Bool {
        let chances = [lostResponses, resets, tooManyRequests, serverErrors, unavailable, duplicates]
        return chances.allSatisfy { (0...1).contains($0) } && tooManyRequests + serverErrors + unavailable <= 1
            && (0...600_000).contains(latencyMillisecondsMaximum)
            && (0...latencyMillisecondsMaximum).contains(latencyMillisecondsMinimum) && goAwayEvery >= 0
            && (1...1_000_000).contains(streamsAfterError)
    }
}
