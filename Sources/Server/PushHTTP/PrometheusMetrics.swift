package import CoreMetrics
internal import PushCore

/// A program's metrics in Prometheus' format: counters, which never decrease while the program runs, gauges, and histograms
/// of seconds. Labels are public names; none comes from a message, a path, or a caller. Thread-safe. Source:
/// "Exposition formats", version 0.0.4, prometheus.io.
package final class PrometheusMetrics: MetricsFactory, Sendable {
    /// The cells by name and labels.
    private let cells = Locked<[String: Cell]>([:])

    package init() {}

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

    private func cell(_ name: String, _ labels: [(String, String)], _ kind: MetricKind) -> Cell {
        let key = name + Self.text(of: labels)
        return cells.withLock { cells in
            if let cell = cells[key] { return cell }
            let cell = Cell(name, labels, kind)
            // Keeps memory bounded even if labels get out of hand.
            if cells.count < Self.maximumCount { cells[key] = cell }
            return cell
        }
    }

    /// Returns all metrics, including those counted elsewhere: at most about 100 KB.
    func text(_ others: [MetricSample] = []) -> String {
        let own = cells.withLock { $0.sorted { $0.key < $1.key } }.flatMap { $0.value.samples }
        var text = ""
        for (name, samples) in Dictionary(grouping: own + others, by: \.name).sorted(by: { $0.key < $1.key }) {
            if let help = Self.help[name] { text += "# HELP \(name) \(help)\n" }
            text += "# TYPE \(name) \(samples[0].kind.rawValue)\n"
            for sample in samples {
                let value = MetricSample.number(sample.value)
                text += "\(name)\(sample.suffix)\(Self.text(of: sample.labels)) \(value)\n"
            }
        }
        return text
    }

    /// Returns `{outcome="accepted"}`, or an empty string.
    private static func text(of labels: [(String, String)]) -> String {
        guard !labels.isEmpty else { return "" }
        let escapes: [Unicode.Scalar: String] = ["\\": "\\\\", "\"": "\\\"", "\n": "\\n"]
        let pairs = labels.map { name, value in
            "\(name)=\"\(value.unicodeScalars.map { escapes[$0] ?? String($0) }.joined())\""
        }
        return "{\(pairs.joined(separator: ","))}"
    }

    private static let maximumCount = 2_000

    /// The metrics' descriptions, including the transport's. For what to do about them, see Operations 5.
    private static let help = [
        "push_certificate_expiry_seconds": "The earliest expiry of the service's certificates, in seconds since 1970.",
        "push_connections": "Connections to APNs.",
        "push_deliveries_in_flight": "Pushes in transit.",
        "push_deliveries_total": "Outcomes of this process's deliveries, by outcome and reason.",
        "push_build_info": "1; the labels are the program's version and commit.",
        "push_delivery_paused": "1 while delivery is paused; see the log for the reason.",
        "push_delivery_wait_seconds": "How long accepted pushes had waited since they were enqueued.",
        "push_outbox_bytes": "The size of the outbox.",
        "push_outbox_devices": "Registered devices.",
        "push_outbox_queues": "Devices with waiting pushes, by state.",
        "push_outbox_reachable_devices": "Devices whose token was not refused.",
        "push_outbox_refused": "Dead letters, by reason.",
        "push_outbox_waiting": "Waiting pushes.",
        "push_outbox_waiting_older_than": "Pushes that have waited longer than the labeled number of seconds.",
        "push_records_expiring": "Reachable devices whose record expires within 30 days.",
        "push_records_expiry_seconds": "When the first record of a reachable device expires, in seconds since 1970.",
        "push_request_duration_seconds": "How long APNs took to respond.",
        "push_requests_total": "Requests to APNs, by outcome.",
        "push_sender_set_expiry_seconds": "When the sender set expires, in seconds since 1970.",
        "push_server_request_duration_seconds": "How long the service took to respond, by route.",
        "push_server_requests_total": "Requests to the service, by route, method, and status.",
        "push_streams": "Requests waiting for a response from APNs.",
        "push_token_renewals_total": "Provider token signings, by outcome.",
        "push_waiting": "Pushes waiting for a stream to APNs.",
    ]
}

/// How a metric changes over time.
enum MetricKind: String, Sendable {
    /// A value that never decreases while the program runs.
    case counter
    case gauge
    case histogram
}

/// A number, or one of the values of a histogram.
struct MetricSample: Sendable {
    let name: String
    let kind: MetricKind
    let labels: [(String, String)]
    let value: Double
    /// For a histogram: `_bucket`, `_sum`, or `_count`.
    let suffix: String

    init(_ name: String, _ kind: MetricKind, _ value: Double, labels: [(String, String)] = [], suffix: String = "") {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.value = value
        self.suffix = suffix
    }

    init(_ name: String, _ kind: MetricKind, _ value: Int, labels: [(String, String)] = []) {
        self.init(name, kind, Double(value), labels: labels)
    }

    /// `counts` contains the number of values that don't exceed each bound, and `count` is the number of all values.
    static func histogram(
        _ name: String, labels: [(String, String)] = [], bounds: [Double], counts: [Int], count: Int, sum: Double
    ) -> [MetricSample] {
        zip(bounds.map(number) + ["+Inf"], counts + [count]).map {
            MetricSample(name, .histogram, Double($1), labels: labels + [("le", $0)], suffix: "_bucket")
        } + [
            MetricSample(name, .histogram, sum, labels: labels, suffix: "_sum"),
            MetricSample(name, .histogram, Double(count), labels: labels, suffix: "_count"),
        ]
    }

    static func number(_ value: Double) -> String { Int64(exactly: value).map { String($0) } ?? String(value) }
}

/// One number or one histogram.
private final class Cell: CounterHandler, RecorderHandler, TimerHandler, Sendable {
    private let name: String
    private let labels: [(String, String)]
    private let kind: MetricKind
    private let state = Locked(State())

    private struct State {
        var value = 0.0
        var count = 0
        var buckets = [Int](repeating: 0, count: Cell.bounds.count)
    }

    init(_ name: String, _ labels: [(String, String)], _ kind: MetricKind) {
        self.name = name
        self.labels = labels
        self.kind = kind
    }

    func increment(by amount: Int64) { state.withLock { $0.value += Double(max(0, amount)) } }
    /// A no-op, because a counter never decreases.
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

    var samples: [MetricSample] {
        let state = state.withLock { $0 }
        guard kind == .histogram else { return [MetricSample(name, kind, state.value, labels: labels)] }
        return MetricSample.histogram(
            name, labels: labels, bounds: Self.bounds, counts: state.buckets, count: state.count, sum: state.value)
    }

    /// The histogram's upper bounds in seconds.
    private static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
}
