package import CoreMetrics
internal import PushCore
package import PushOutbox

/// What a program counts, as Prometheus reads it: counters, which never fall while the program runs, gauges, and histograms of
/// seconds. Labels are public names; none comes from a message, a path or a caller.
///
/// Safe from many threads. Source: "Exposition formats", version 0.0.4, prometheus.io.
package final class PrometheusMetrics: MetricsFactory, Sendable {
    private let cells = Locked<[Name: Cell]>([:])
    /// Why the program is not ready, though its outbox is. It lies here because each place that shows figures shows this, too.
    let obstacle = Locked<Problem?>(nil)

    package init() {}

    struct Name: Hashable {
        let family: String
        /// `{outcome="accepted"}`, or nothing.
        let labels: String
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        cell(label + "_total", dimensions, .counter)
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        cell(label, dimensions, aggregate ? .histogram : .gauge)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        cell(label + "_seconds", dimensions, .histogram)
    }

    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    private func cell(_ family: String, _ dimensions: [(String, String)], _ kind: MetricKind) -> Cell {
        let name = Name(family: family, labels: Self.labels(dimensions))
        return cells.withLock { cells in
            if let cell = cells[name] { return cell }
            // Whatever goes wrong with labels, memory does not grow without end.
            guard cells.count < Self.maximumCount else { return Cell(kind) }
            let cell = Cell(kind)
            cells[name] = cell
            return cell
        }
    }

    /// All of it, and what is counted elsewhere: at most some 100 KB.
    package func text(_ others: [MetricSample] = []) -> String {
        let families = Dictionary(grouping: cells.withLock { Array($0) }, by: \.key.family)
        var text = ""
        for (family, cells) in families.sorted(by: { $0.key < $1.key }) {
            guard let kind = cells.first?.value.kind else { continue }
            text += "# TYPE \(family) \(kind.rawValue)\n"
            for (name, cell) in cells.sorted(by: { $0.key.labels < $1.key.labels }) {
                text += cell.lines(family, name.labels)
            }
        }
        for (family, samples) in Dictionary(grouping: others, by: \.name).sorted(by: { $0.key < $1.key }) {
            text += "# TYPE \(family) \(samples[0].kind.rawValue)\n"
            for sample in samples {
                text += "\(family)\(sample.suffix)\(Self.labels(sample.labels)) \(Cell.number(sample.value))\n"
            }
        }
        return text
    }

    static func labels(_ dimensions: [(String, String)]) -> String {
        guard !dimensions.isEmpty else { return "" }
        let pairs = dimensions.map { name, value in
            let escaped = value.unicodeScalars.map { scalar in
                switch scalar {
                case "\\": "\\\\"
                case "\"": "\\\""
                case "\n": "\\n"
                default: String(scalar)
                }
            }
            return "\(name)=\"\(escaped.joined())\""
        }
        return "{\(pairs.joined(separator: ","))}"
    }

    private static let maximumCount = 2_000
}

/// What a number does as time goes on.
package enum MetricKind: String, Sendable {
    /// It never falls while the program runs.
    case counter
    case gauge
    case histogram
}

/// A number that is counted elsewhere.
package struct MetricSample: Sendable {
    let name: String
    let kind: MetricKind
    let labels: [(String, String)]
    let value: Double
    /// Of a histogram: `_bucket`, `_sum` or `_count`.
    let suffix: String

    package init(
        _ name: String, _ kind: MetricKind, _ value: Double, labels: [(String, String)] = [], suffix: String = ""
    ) {
        self.suffix = suffix
        self.name = name
        self.kind = kind
        self.labels = labels
        self.value = value
    }

    package init(_ name: String, _ kind: MetricKind, _ value: Int, labels: [(String, String)] = []) {
        self.init(name, kind, Double(value), labels: labels)
    }

    /// A histogram of seconds.
    package static func histogram(_ name: String, _ times: WaitingTimes) -> [MetricSample] {
        zip(WaitingTimes.bounds.map { Cell.number($0 / .seconds(1)) } + ["+Inf"], times.counts + [times.count]).map {
            MetricSample(name, .histogram, Double($1), labels: [("le", $0)], suffix: "_bucket")
        } + [
            MetricSample(name, .histogram, times.sum / .seconds(1), suffix: "_sum"),
            MetricSample(name, .histogram, Double(times.count), suffix: "_count"),
        ]
    }
}

/// One number, or one histogram.
private final class Cell: CounterHandler, RecorderHandler, TimerHandler, Sendable {
    let kind: MetricKind
    private let state = Locked(State())

    private struct State {
        var value = 0.0
        var count = 0
        var buckets = [Int](repeating: 0, count: Cell.bounds.count)
    }

    init(_ kind: MetricKind) { self.kind = kind }

    func increment(by amount: Int64) { state.withLock { $0.value += Double(max(0, amount)) } }
    /// A counter does not fall.
    func reset() {}
    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }

    func record(_ value: Double) {
        guard value.isFinite else { return }
        state.withLock { state in
            guard kind == .histogram else {
                state.value = value
                return
            }
            state.value += value
            state.count += 1
            for (index, bound) in Self.bounds.enumerated() where value <= bound { state.buckets[index] += 1 }
        }
    }

    func lines(_ family: String, _ labels: String) -> String {
        let state = state.withLock { $0 }
        guard kind == .histogram else { return "\(family)\(labels) \(Self.number(state.value))\n" }
        let others = labels.isEmpty ? "" : "\(labels.dropFirst().dropLast()),"
        var text = ""
        for (bound, count) in zip(Self.bounds, state.buckets) {
            text += "\(family)_bucket{\(others)le=\"\(Self.number(bound))\"} \(count)\n"
        }
        text += "\(family)_bucket{\(others)le=\"+Inf\"} \(state.count)\n"
        text += "\(family)_sum\(labels) \(Self.number(state.value))\n"
        return text + "\(family)_count\(labels) \(state.count)\n"
    }

    static func number(_ value: Double) -> String { Int64(exactly: value).map { String($0) } ?? String(value) }

    /// In seconds.
    private static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
}
