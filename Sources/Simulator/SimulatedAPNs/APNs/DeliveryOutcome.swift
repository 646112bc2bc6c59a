/// The outcome of an accepted notification.
package enum DeliveryOutcome: String, Sendable {
    case sent
    /// Stored until the device comes online.
    case stored
    /// Stored in place of another notification, which is lost.
    case replaced
    /// Lost, because the device is offline and the notification must not be stored or has expired.
    case discarded
    /// Lost to an injected fault.
    case dropped
}
