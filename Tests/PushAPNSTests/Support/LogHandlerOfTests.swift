import Logging
import PushCore

/// Keeps what is logged, as text.
struct LogHandlerOfTests: LogHandler {
    private let lines: Locked<[String]> = Locked([])
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let details = (event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted().joined(separator: " ")
        lines.withLock { $0.append("\(event.level) \(event.message) \(details)") }
    }
}
