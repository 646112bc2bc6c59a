import CoreMetrics
import Glibc
import Logging

/// Appends a line to a file in one write, so that the file has either the whole line or none, whenever the process dies.
struct Lines: Sendable {
    private let descriptor: Int32

    init(_ path: String) { descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600) }

    func append(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        precondition(write(descriptor, bytes, bytes.count) == bytes.count, "a line was only partly written")
    }
}

/// Writes everything that is logged, including traces.
struct LineLog: LogHandler {
    let label: String
    let lines: Lines
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    init(label: String, lines: Lines) {
        self.label = label
        self.lines = lines
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { _, given in given }
        let details = all.map { "\($0)=\($1)" }.sorted().joined(separator: " ")
        lines.append("\(event.level) \(label): \(event.message) \(details)")
    }
}

/// Writes every metric with all its labels and values.
struct LineMetrics: MetricsFactory {
    private let lines: Lines

    init(_ lines: Lines) { self.lines = lines }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { metric(label, dimensions) }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        metric(label, dimensions)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { metric(label, dimensions) }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    private func metric(_ label: String, _ dimensions: [(String, String)]) -> Metric {
        Metric(name: ([label] + dimensions.map { "\($0)=\($1)" }).joined(separator: " "), lines: lines)
    }

    private final class Metric: CounterHandler, RecorderHandler, TimerHandler {
        private let name: String
        private let lines: Lines

        init(name: String, lines: Lines) {
            self.name = name
            self.lines = lines
        }

        func increment(by amount: Int64) { lines.append("\(name) + \(amount)") }
        func reset() { lines.append("\(name) 0") }
        func record(_ value: Int64) { lines.append("\(name) \(value)") }
        func record(_ value: Double) { lines.append("\(name) \(value)") }
        func recordNanoseconds(_ duration: Int64) { lines.append("\(name) \(duration) ns") }
    }
}
