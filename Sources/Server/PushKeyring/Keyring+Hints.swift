public import SealedPush

extension Keyring {
    /// Finds the keys that match an envelope's hints. Doesn't need the secret. Takes about 1 µs for each key.
    public func keys(matching envelope: Envelope) throws(KeyringError) -> MatchedKeys {
        try read(.atHand).contents.keys(matching: envelope)
    }
}

extension KeyringContents {
    /// - Parameter preferred: The device whose keys are tried first.
    func keys(matching envelope: Envelope, preferring preferred: KeyName? = nil) -> MatchedKeys {
        let named = sorted.filter { $0.name == preferred } + sorted.filter { $0.name != preferred }
        let devices = named.flatMap { names in names.keys.compactMap(\.key.device).map { (name: names.name, key: $0) } }
        let device = devices.first { envelope.matches($0.key) }
        let sender = device.flatMap { senders(matching: envelope, sealingTo: $0.key).first }
        return MatchedKeys(
            recipient: device?.key, device: device?.name, sender: sender,
            senderName: sender.flatMap { owner(of: .sender($0)) })
    }

    /// Returns every sender in the keyring that matches the sender hint, trusted or not.
    func senders(matching envelope: Envelope, sealingTo recipient: DevicePublicKey) -> [SenderPublicKey] {
        var senders = Set(names.values.flatMap(\.keys).compactMap(\.key.sender))
        for entry in trust.entries {
            switch entry.trusted {
            case .sender(let sender): senders.insert(sender)
            case .senderSet(let set): senders.formUnion(set.senders)
            case .authority: break
            }
        }
        return senders.filter { envelope.matches($0, sealingTo: recipient) }
    }

    func owner(of key: AnyPublicKey) -> KeyName? { sorted.first { $0.keys.contains { $0.key == key } }?.name }
}
