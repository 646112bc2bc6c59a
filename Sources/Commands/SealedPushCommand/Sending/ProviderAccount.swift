internal import CommandSupport
internal import Logging
internal import Metrics
internal import PushAPNs
internal import PushHTTP
internal import PushOutbox
internal import SealedPush

/// A provider's key and the settings for a delivery.
struct ProviderAccount: Sendable {
    var configuration: APNsConfiguration
    let environment: PushEnvironment
    let limits: CourierLimits

    func transport(metrics: PrometheusMetrics?, logger: Logger) throws -> APNsTransport {
        do throws(APNsConfigurationError) {
            return try APNsTransport(configuration, logger: logger, metrics: metrics ?? MetricsSystem.factory)
        } catch { throw CommandFailure(status: 69, message: "can't set up TLS on this machine") }
    }
}
