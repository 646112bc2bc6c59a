internal import ArgumentParser
internal import CommandSupport
internal import Logging
internal import Metrics
internal import PushCore
import PushHTTP
internal import PushOutbox

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
                host: host, port: number, metrics: observation.metrics, readiness: observation.readiness,
                outbox: outbox, deliveries: { await observation.courier.withLock { $0 }?.report }, logger: logger)
        } catch { throw CommandFailure(serving: error, at: "--metrics") }
        let (bound, isBound) = AsyncStream<Void>.makeStream()
        let serving = Task {
            defer {
                isBound.finish()
                interrupt.fire()
            }
            do throws(ServingError) {
                try await server.run { port in
                    // Whoever reads this may send a signal at once, which then waits for requests in transit.
                    interrupt.started()
                    CommandFailure.report("metrics are at http://\(metrics.description(port))/metrics")
                    isBound.yield()
                }
            } catch { throw CommandFailure(serving: error, at: "--metrics") }
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
