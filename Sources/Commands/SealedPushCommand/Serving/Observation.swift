internal import ArgumentParser
internal import CommandSupport
internal import Logging
internal import Metrics
internal import PushCore
package import PushHTTP
internal import PushOutbox
internal import SealedPush

/// The metrics and state of a program that delivers.
final class Observation: Sendable {
    let metrics = PrometheusMetrics()
    let readiness = Readiness()
    let courier = Locked<Courier?>(nil)

    /// Logs the version, and shows it as a metric.
    init() {
        CommandFailure.report("version \(Version.text)")
        let labels = [("version", Version.number), ("commit", Version.commit)]
        Gauge(label: "push_build_info", dimensions: labels, factory: metrics).record(1)
    }

    /// Returns the failure for the error that ended a run, with the number of pushes that the run delivered.
    func failure(_ error: CourierError) async -> CommandFailure {
        let count = await courier.withLock { $0 }?.report.acceptedCount ?? 0
        let done = ". APNs accepted \(count.grouped) in this run; `sealedpush work` sends the rest"
        return CommandFailure(error).saying(after: count > 0 ? done : "")
    }
}

extension Logger {
    static func toStandardError(isVerbose: Bool) -> Logger {
        var log = Logger(label: "sealedpush") { label in StreamLogHandler.standardError(label: label) }
        log.logLevel = isVerbose ? .debug : .error
        return log
    }
}

/// `HOST:PORT`, with an IPv6 host in brackets, or a socket's path.
extension ServerPlace: ExpressibleByArgument {
    package init?(argument text: String) {
        if text.contains("/") || text.hasSuffix(".sock") {
            guard TypedPath.isPath(text) else { return nil }
            self = .socket(text)
        } else {
            guard let place = HostAndPort(parsing: text) else { return nil }
            self = .address(place.host, port: place.port)
        }
    }

    package var defaultValueDescription: String { description(nil) }

    func json(_ port: Int?) -> [String: JSONValue] {
        switch self {
        case .socket(let path): ["socket": .string(path)]
        case .address(let host, let number): ["host": .string(host), "port": .count(port ?? number)]
        }
    }
}
