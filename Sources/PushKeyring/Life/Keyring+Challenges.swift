public import SealedPush

extension Keyring {
    /// Asks somebody else's device to prove that it holds its newest key: the text to send it, which counts for ten
    /// minutes. A second challenge takes the first one's place.
    ///
    /// - Parameter sender: a sender of one's own, which the device trusts.
    public func challenge(
        _ name: KeyName, from sender: KeyName, at now: Timestamp = .now()
    ) throws(KeyringError) -> PendingChallenge {
        let senderKey = try senderKey(named: sender)
        return try change(at: now) { (change) throws(KeyringError) in
            var file = try change.file(name)
            guard file.kind == .device, !file.isOwn else { throw .wrongKind(name, expected: .device) }
            guard let enrolment = file.enrolment, let topic = file.topic else { throw .unverified(name) }
            guard case .device(let recipient)? = file.rotation.unconfirmed?.key else { throw .nothingToConfirm(name) }
            let challenge = PendingChallenge(to: recipient, of: enrolment, topic: topic, from: senderKey, at: now)
            file.challenge = challenge
            change.save(file, as: name)
            change.note(.challenged, name, .device(recipient))
            return challenge
        }
    }

    /// Takes a device's answer; from here on its key is sealed to.
    public func acceptAnswer(
        _ answer: String, of name: KeyName, at now: Timestamp = .now()
    ) throws(KeyringError) -> Recipient {
        try change(at: now) { (change) throws(KeyringError) in
            var file = try change.file(name)
            guard var device = file.enrolledDevice else { throw .unverified(name) }
            guard let challenge = file.challenge,
                let index = file.keys.firstIndex(where: { $0.recipient == challenge.recipient })
            else { throw .nothingToConfirm(name) }
            guard file.keys[index].life.state == .active else {
                throw .notUsable(name, file.keys[index].life.state)
            }
            do throws(ChallengeError) {
                try device.prove(challenge, answer: answer, at: now)
            } catch { throw .challenge(error) }
            file.keys[index].life.confirm(at: now)
            file.challenge = nil
            change.save(file, as: name)
            change.note(.answered, name, file.keys[index].key)
            return challenge.recipient
        }
    }

    /// A device's own side: the answer to a server's challenge, if one of the trusted senders asks this very device.
    public func answer(
        _ challenge: String, for name: KeyName, trusting senders: [Sender]
    ) throws(KeyringError) -> String {
        let (enrolment, topic) = try unlocked { (key) throws(KeyringError) in
            let file = try load(name, under: key)
            guard file.isOwn else { throw .noSecret(name) }
            guard let enrolment = file.enrolment, let topic = file.topic else { throw .unverified(name) }
            return (enrolment, topic)
        }
        do {
            return try Challenge.answer(
                challenge, enrolment: enrolment, topic: topic, keys: KeyringStore(self, device: name),
                trusting: senders)
        } catch { throw .challenge(error) }
    }
}
