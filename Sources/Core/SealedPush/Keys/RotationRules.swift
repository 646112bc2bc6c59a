/// The times in the life of a key, and of the record that names it, in seconds. Source: Specification 13.4.
package enum RotationRules {
    /// How long after its retirement a key opens messages, by their `sent` time: two hours.
    package static let grace: Int64 = 2 * 3_600
    /// The number of days for which a retired secret is kept by default; it is erased a day later.
    package static let keeps = 30
    /// A key that isn't confirmed after 45 days needs a person's attention.
    package static let confirmationWarning: Int64 = 45 * 86_400
    /// The age from which a person is advised to rotate a key: 90 days.
    package static let advisedAge: Int64 = 90 * 86_400
    /// The lifetime of a record: 400 days, so that a device that is used once a year remains reachable.
    package static let recordLifetime: Int64 = 400 * 86_400
    /// How long before its expiry a record or sender set must be signed again: 60 days.
    package static let renewal: Int64 = 60 * 86_400
}
