/// Whom a device believes: senders that its app has built in, and authorities that may replace them.
///
/// Until the first sender set of a pinned authority arrives, the senders count. From then on only those of the newest set
/// do, so that a stolen key goes out of use without an update of the app. A set that has expired is not followed by the
/// built-in senders again: who can hold back the next one must not bring an old key back. Source: Specification 11.
public struct TrustedSenders: Hashable, Sendable {
    /// Most likely first.
    public let senders: [SenderPublicKey]
    public let authorities: [AuthorityPublicKey]

    public init(_ senders: [SenderPublicKey], authorities: [AuthorityPublicKey] = []) {
        self.senders = senders
        self.authorities = authorities
    }

    /// Who is believed now, in the order of trying.
    ///
    /// - Parameter set: the newest that the device has accepted, from its key store.
    package func senders(following set: SenderSet?, topic: Topic, at now: Timestamp) -> [SenderPublicKey] {
        // A set of an authority that the app no longer pins does not count.
        guard let set, authorities.contains(set.authority), set.topic == topic else { return senders }
        do throws(RecordError) {
            try check(set, topic: topic, replacing: set, at: now)
            return set.senders
        } catch {
            return []
        }
    }

    /// Returns if a set is to be accepted: signed by a pinned authority, for this app, valid now, and not older than the
    /// one that is known.
    public func check(
        _ set: SenderSet, topic: Topic, replacing known: SenderSet?, at now: Timestamp
    ) throws(RecordError) {
        guard let authority = authorities.first(where: { $0 == set.authority }) else { throw .foreignSigner }
        // A set of an authority that the app no longer pins does not count, or a stolen key could hold the counter up for ever.
        let known = known.flatMap { authorities.contains($0.authority) ? $0 : nil }
        try set.check(pinned: authority, topic: topic, replacing: known, at: now)
    }
}
