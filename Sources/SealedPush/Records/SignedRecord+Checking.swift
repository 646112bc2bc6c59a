import PushCrypto

extension SignedRecord {
    /// Whether this record is to be believed now, by whoever pinned a signer and knows an earlier record of it.
    ///
    /// A known record of another signer or topic says nothing about this one's counter: the pin has changed since.
    /// The signature was verified when the value was made. Source: Specification 11.3.
    func check(
        pinned signer: Ed25519PublicKey, topic: Topic, replacing known: SignedRecord?, at now: Timestamp
    ) throws(RecordError) {
        guard self.signer == signer else { throw .foreignSigner }
        guard self.topic == topic else { throw .otherTopic }
        guard now <= expires else { throw .expired }
        guard created.seconds(since: now) <= TimeRules.maximumLead(isAnonymous: false) else { throw .notYetValid }
        guard let known, known.kind == kind, known.signer == signer, known.topic == topic else { return }
        guard counter >= known.counter else { throw .rolledBack }
        guard counter > known.counter || bytes == known.bytes else { throw .conflicting }
    }
}
