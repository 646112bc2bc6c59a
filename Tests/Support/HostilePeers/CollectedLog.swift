package import Logging
internal import PushCore

/// Collects a transport's log as text.
package struct CollectedLog: LogHandler {
    private let lines: Locked<[String]> = Locked([])
    private let firstReason: Locked<String?> = Locked(nil)
    package var logLevel = Logger.Level.trace
    package var metadata: Logger.Metadata = [:]

    package init() {}

    package var text: String { lines.withLock { $0.joined(separator: "\n") } }

    /// The reason why the first connection was closed.
    package var closingReason: String? { firstReason.withLock { $0 } }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let details = (event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted().joined(separator: " ")
        lines.withLock { $0.append("\(event.level) \(event.message) \(details)") }
        if let reason = event.metadata?["reason"], "\(event.message)" == "connection to APNs closed" {
            firstReason.withLock { $0 = $0 ?? "\(reason)" }
        }
    }
}
