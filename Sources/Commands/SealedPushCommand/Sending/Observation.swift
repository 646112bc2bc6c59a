internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import Logging
internal import Metrics
internal import PushCore
package import PushHTTP
internal import PushOutbox
internal import SealedPush

/// The metrics and state of a program that delivers.
final class Observation: Sendable {
    let metrics = PrometheusMetrics()
    let courier = Locked<Courier?>(nil)

    /// Logs the version, and shows it as a metric.
    init() {
        Failure.report("version \(Version.text)")
        let labels = [("version", Version.number), ("commit", Version.commit)]
        Gauge(label: "push_build_info", dimensions: labels, factory: metrics).record(1)
    }

    /// Returns the failure for the error that ended a run, with the number of pushes that the run delivered.
    func failure(_ error: CourierError) async -> Failure {
        let count = await courier.withLock { $0 }?.report.acceptedCount ?? 0
        let done = ". APNs accepted \(count.grouped) in this run; `sealedpush work` sends the rest"
        return Failure(error).saying(after: count > 0 ? done : "")
    }
}

/// The options `--metrics`, `--metrics-open`, and `--verbose`.
struct ObservationOptions: ParsableArguments {
    @Option(help: .value("place", "HOST:PORT for /metrics, /healthz, and /readyz.")) var metrics: ServerPlace?

    @Flag(help: "Let other machines read these without TLS or a token.") var metricsOpen = false

    @Flag(help: "Log refusals and connections, public IDs only.") var verbose = false

    func validate() throws {
        if case .socket? = metrics { throw ValidationError("--metrics must be HOST:PORT.") }
        guard !metricsOpen || !(metrics?.isLocal ?? true) else {
            throw ValidationError("--metrics-open is for a --metrics address that other machines can reach.")
        }
        guard metricsOpen || metrics?.isLocal ?? true else {
            throw ValidationError(
                "--metrics has no TLS or token, so anyone who can reach it can read it; use 127.0.0.1 or --metrics-open."
            )
        }
    }

    /// A logger that writes to standard error and logs only public IDs.
    var logger: Logger { .toStandardError(isVerbose: verbose) }

    /// Performs `work`, and serves metrics in the meantime if --metrics is set.
    func serving<Answer: Sendable>(
        _ observation: Observation, of outbox: Outbox, _ interrupt: Interrupt, while work: () async throws -> Answer
    ) async throws -> Answer {
        guard let metrics, case .address(let host, let number) = metrics else { return try await work() }
        let server: MetricsServer
        do throws(ServingError) {
            server = try MetricsServer(
                host: host, port: number, metrics: observation.metrics, outbox: outbox,
                deliveries: { await observation.courier.withLock { $0 }?.report }, logger: logger)
        } catch { throw Failure(serving: error, at: "--metrics") }
        let (bound, isBound) = AsyncStream<Void>.makeStream()
        let serving = Task {
            defer {
                isBound.finish()
                interrupt.fire()
            }
            do throws(ServingError) {
                try await server.run { port in
                    Failure.report("metrics are at http://\(metrics.description(port))/metrics")
                    isBound.yield()
                }
            } catch { throw Failure(serving: error, at: "--metrics") }
        }
        // Don't announce the service or start to deliver before the metrics server is listening.
        if await bound.first(where: { _ in true }) == nil { try await serving.value }
        let answer: Result<Answer, any Error>
        do { answer = .success(try await work()) } catch { answer = .failure(error) }
        await server.stop()
        try await serving.value
        return try answer.get()
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
