/// The senders that a device trusts: those built into its app, and authorities that may replace them.
///
/// The built-in senders apply until the first sender set of a pinned authority arrives. After that, only those in the
/// newest set do, so that a stolen key can be removed without updating the app. The built-in senders don't return when
/// a set expires: an attacker who holds back the next set must not bring an old key back. Source: Specification 11.
public struct TrustedSenders: Hashable, Sendable {
    /// The built-in senders, most likely first.
    public let senders: [SenderPublicKey]
    /// The authorities whose sender sets replace the built-in senders.
    public let authorities: [AuthorityPublicKey]

    /// Creates the trust that an app is built with.
    public init(_ senders: [SenderPublicKey], authorities: [AuthorityPublicKey] = []) {
        self.senders = senders
        self.authorities = authorities
    }

    /// Returns the senders that are trusted now, in the order of trying. `set` is the newest set of these authorities that
    /// the device has accepted, from its key store.
    package func senders(following set: SenderSet?, topic: Topic, at now: Timestamp) -> [SenderPublicKey] {
        // A set by an authority that the app no longer pins is ignored.
        guard let set, authorities.contains(set.authority), set.topic == topic else { return senders }
        do throws(RecordError) {
            try check(set, topic: topic, replacing: set, at: now)
            return set.senders
        } catch { return [] }
    }

    /// Checks whether to accept a set: signed by a pinned authority, for this app, valid, and no older than the known one.
    public func check(
        _ set: SenderSet, topic: Topic, replacing known: SenderSet?, at now: Timestamp
    ) throws(RecordError) {
        guard let authority = authorities.first(where: { $0 == set.authority }) else { throw .foreignSigner }
        // A set by an authority that the app no longer pins is ignored, or a stolen key could block the counter forever.
        let known = known.flatMap { authorities.contains($0.authority) ? $0 : nil }
        try set.check(pinned: authority, topic: topic, replacing: known, at: now)
    }
}
