internal import PushCrypto
internal import SealedPush

extension KeyFile {
    /// The file that lies at `path`; the caller wipes it.
    ///
    /// - Parameter key: the keyring's, where it is sealed. All secrets must be open.
    func text(at path: String, under key: MasterKey?) -> [UInt8] {
        var writer = TextFileWriter(
            comment: isOwn
                ? "Secret keys of Sealed Push. Whoever reads them has them: never commit, send or print this file."
                : "A public key of Sealed Push: may be given to anyone.",
            capacity: 8_192 + 1_024 * keys.count)
        writer.head(of: self)
        writer.secret("enrolment-secret", enrolmentSecret, under: key, data: headData(at: path))
        for stored in keys {
            writer.paragraph()
            writer.publicPart(of: stored)
            writer.secret("secret", stored.secret, under: key, data: stored.data(at: path))
        }
        return writer.finish(at: path, under: key)
    }

    /// What the enrolment key's sealing covers besides: all that the paragraph says in the clear.
    func headData(at path: String) -> [UInt8] {
        var writer = TextFileWriter(comment: path, capacity: 0)
        writer.head(of: self)
        return writer.text(from: 0)
    }
}

extension StoredKey {
    /// What a secret's sealing covers besides: its file, its public key, its state and its times.
    func data(at path: String) -> [UInt8] {
        var writer = TextFileWriter(comment: path, capacity: 0)
        writer.publicPart(of: self)
        return writer.text(from: 0)
    }
}

extension TextFileWriter {
    fileprivate mutating func head(of file: KeyFile) {
        field("kind", file.kind.rawValue)
        field("created", file.created.iso8601)
        field("topic", file.topic?.description)
        field("enrolment", file.enrolment?.description)
        field("record", file.record?.description)
        field("challenge", file.challenge?.storedText)
        field("counter", file.counter.map { String($0) })
    }

    fileprivate mutating func publicPart(of stored: StoredKey) {
        field("public", stored.key.description)
        field("state", stored.life.state.rawValue)
        field("created", stored.life.created.iso8601)
        field("confirmed", stored.life.confirmed?.iso8601)
        field("retired", stored.life.retired?.iso8601)
        field("revoked", stored.life.revoked?.iso8601)
        field("erased", stored.life.erased?.iso8601)
    }

    fileprivate mutating func secret(_ name: String, _ secret: StoredSecret?, under key: MasterKey?, data: [UInt8]) {
        switch secret {
        case nil: break
        case .sealed: preconditionFailure("a file of a sealed keyring is written only once it is unlocked")
        case .open(let text):
            text.withBytes { bytes in
                guard let key else { return secretField(name, bytes) }
                field(name, "sealed." + Base64URL.encode(key.storage.seal(bytes, additionalData: data)))
            }
        }
    }
}
