internal import ArgumentParser
internal import CommandSupport
internal import Logging
internal import PushOutbox
internal import PushServer
internal import _PushBase

/// What a program that delivers counts.
final class Observation: Sendable {
    let metrics = PrometheusMetrics()
    let courier = Locked<Courier?>(nil)
}

/// `--metrics`
struct ObservationOptions: ParsableArguments {
    @Option(help: "Show figures for Prometheus at this address, HOST:PORT, under /metrics; with /healthz and /readyz.")
    var metrics: ListeningAddress?

    /// Works, and shows figures meanwhile if they are asked for.
    func serving<Answer: Sendable>(
        _ observation: Observation, of outbox: Outbox, _ logger: Logger, _ interrupt: Interrupt,
        while work: () async throws -> Answer
    ) async throws -> Answer {
        guard let metrics else { return try await work() }
        let server: MetricsServer
        do throws(ServingError) {
            server = try MetricsServer(
                host: metrics.host, port: metrics.port, metrics: observation.metrics, outbox: outbox,
                deliveries: { await observation.courier.withLock { $0 }?.report }, logger: logger)
        } catch { throw metrics.failure(error) }
        let serving = Task {
            defer { interrupt.fire() }
            do throws(ServingError) {
                try await server.run { port in
                    Failure.report("figures are at http://\(metrics.host):\(port ?? metrics.port)/metrics")
                }
            } catch { throw metrics.failure(error) }
        }
        let answer: Result<Answer, any Error>
        do { answer = .success(try await work()) } catch { answer = .failure(error) }
        await server.stop()
        try await serving.value
        return try answer.get()
    }
}

/// Where a program listens, as `HOST:PORT`; a host of IPv6 in brackets.
struct ListeningAddress: ExpressibleByArgument {
    let host: String
    let port: Int

    init?(argument text: String) {
        guard let colon = text.lastIndex(of: ":"), colon > text.startIndex,
            let port = Int(text[text.index(after: colon)...]), (0...65_535).contains(port)
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        self.host = String(host)
        self.port = port
    }

    func failure(_ error: ServingError) -> Failure { .server(error, "\(host) port \(port)") }
}

extension Failure {
    static func server(_ error: ServingError, _ place: String) -> Failure {
        switch error {
        case .needsTLS:
            .usage("\(place): \(error): give --tls-certificate and --tls-key, or put a proxy before a --socket")
        case .needsTokens: .usage("\(place): \(error): name a file with --token-file, or listen at a --socket")
        case .badCertificate: .input("--tls-certificate and --tls-key: \(error)")
        case .notBound: .file("\(place): \(error)")
        }
    }
}
