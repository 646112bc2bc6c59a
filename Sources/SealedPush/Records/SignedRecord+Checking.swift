import PushCrypto

extension SignedRecord {
    /// Whether this record is to be believed now, by whoever pinned a signer and knows an earlier record.
    ///
    /// A known record counts whoever has signed it: where several signers are pinned at once, going back and forth between
    /// them must not bring an old record back. One of another topic does not count. The signature was verified when the value was
    /// made. Source: Specification 11.3.
    func check(
        pinned signer: Ed25519PublicKey, topic: Topic, replacing known: SignedRecord?, at now: Timestamp
    ) throws(RecordError) {
        guard self.signer == signer else { throw .foreignSigner }
        guard self.topic == topic else { throw .otherTopic }
        guard now <= expires else { throw .expired }
        guard created.seconds(since: now) <= TimeRules.maximumLead(isAnonymous: false) else { throw .notYetValid }
        guard let known, known.kind == kind, known.topic == topic else { return }
        guard counter >= known.counter else { throw .rolledBack }
        guard counter > known.counter || bytes == known.bytes else { throw .conflicting }
    }
}
