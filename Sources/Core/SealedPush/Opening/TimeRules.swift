/// The times of Specification 6.4, in seconds.
package enum TimeRules {
    /// How many seconds content may be ahead of the device's clock.
    package static func maximumLead(isAnonymous: Bool) -> Int64 { isAnonymous ? 600 : 26 * 3_600 }
    package static let maximumAge: Int64 = 30 * 86_400
    /// How many seconds after `expires` content still opens.
    package static let expiryGrace: Int64 = 600
}
