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
    /// The factor for pauses: 1 for Apple's service, smaller for a local one.
    let delayScale: Double

    func transport(metrics: PrometheusMetrics?, logger: Logger) throws -> APNsTransport {
        do throws(APNsConfigurationError) {
            return try APNsTransport(configuration, logger: logger, metrics: metrics ?? MetricsSystem.factory)
        } catch { throw CommandFailure(status: 69, message: "can't set up TLS on this machine") }
    }
}
