internal import Foundation
public import SealedPush

extension Keyring {
    /// Why does this payload not open? Walks the steps that a device takes, with the keys, the trust list and the clock
    /// at hand. The verdict is ``Opener``'s; the words around it say what the keyring knows.
    ///
    /// Changes nothing and prints no content. At most a few milliseconds, whatever the payload; besides 0.2 s for a
    /// passphrase.
    ///
    /// - Parameters:
    ///   - payload: its JSON, or the text of its field alone; more than 65,536 bytes are malformed without a look.
    ///   - device: one of the keyring's own.
    ///   - topic: the app's.
    ///   - trusted: who is believed; nil for the keyring's trust list.
    ///   - allowsAnonymous: whether the app has allowed sealed boxes.
    /// - Throws: where the device's keys can't be had: the payload was not looked at.
    public func diagnose(
        _ payload: [UInt8], for device: KeyName, topic: Topic, trusting trusted: TrustedSenders? = nil,
        allowsAnonymous: Bool = false, at now: Timestamp = .now()
    ) throws(KeyringError) -> PayloadDiagnosis {
        let keys = try deviceKeys(named: device)
        let list = try trustList()
        let walk = PayloadWalk(
            device: device, keys: InMemoryKeyStore(keys, senderSet: list.senderSet(for: topic)), topic: topic,
            trusted: trusted ?? list.trustedSenders(for: topic), allowsAnonymous: allowsAnonymous, now: now,
            // Unlocked by now, so what was edited is left out.
            entries: try entries().keys, list: list, folder: folder.relativePath)
        return walk.diagnose(payload)
    }
}
