/// The reason why a device gets no push. The codes are stable.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum SkipReason: String, Hashable, Sendable, CaseIterable {
    /// The device has no address, or the carrier refuses it.
    case noToken = "no-token"
    /// None of the device's recipients has answered a challenge yet.
    case unproven
    /// The device's recipient is unverified, and the caller didn't include such devices.
    case unverified
    /// The device's record has expired.
    case recordExpired = "record-expired"
    /// The device's record was created more than 26 hours ahead of this clock.
    case recordNotYetValid = "record-not-yet-valid"
    /// The device runs an app other than the sealer's.
    case otherTopic = "other-topic"
    /// The device's key is hybrid, and the broadcast content is too large for it.
    case tooLarge = "too-large"
    /// The device's key isn't hybrid, and the sealer requires hybrid keys.
    case notHybrid = "not-hybrid"
    /// The broadcast content expires after the device may have erased its key.
    case expiresTooLate = "expires-too-late"
    /// The device's row was written without the outbox's key. See ``Outbox/unusableDevices()``.
    case forged
    /// The device's row isn't valid: it was written or changed in the database. See ``Outbox/unusableDevices()``.
    case damaged
}
