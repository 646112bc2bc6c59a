/// The level of detail of the log.
package enum APNsLogDetail: String, Hashable, Sendable, CaseIterable {
    /// No log.
    case off
    /// Headers, outcomes, and sizes.
    case headers
    /// The payload, too.
    case payloads
}
