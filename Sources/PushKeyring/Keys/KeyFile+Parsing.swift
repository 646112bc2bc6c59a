internal import PushCrypto
internal import SealedPush

extension KeyFile {
    /// Reads a file that lies at `path`. Nil for anything that ``text(at:under:)`` does not write.
    ///
    /// - Parameter key: the keyring's, if it is at hand: then secrets are opened, and must be those of the public keys.
    init?(parsing bytes: [UInt8], at path: String, under key: MasterKey?) {
        guard let file = TextFile(parsing: bytes), file.paragraphCount >= 1,
            file.names(in: 0).isSubset(of: Self.headNames),
            let kind = file.text("kind", in: 0).flatMap(AnyPublicKey.Kind.init(rawValue:)),
            let created = file.moment("created", in: 0)
        else { return nil }
        self.init(kind: kind, created: created, keys: [])
        guard readHead(file), readSecrets(file, at: path, under: key) else { return nil }
    }

    /// The first paragraph; false where a value is no such thing.
    private mutating func readHead(_ file: borrowing TextFile) -> Bool {
        if let text = file.text("topic", in: 0) {
            topic = Topic(parsing: text)
            guard topic != nil else { return false }
        }
        if let text = file.text("enrolment", in: 0) {
            enrolment = try? Enrolment(parsing: text)
            guard enrolment != nil else { return false }
        }
        if let text = file.text("record", in: 0) {
            record = try? DeviceRecord(parsing: text)
            guard let record, record.enrolment == enrolment, record.topic == topic else { return false }
        }
        if let text = file.text("challenge", in: 0) {
            challenge = try? PendingChallenge(parsing: text)
            guard challenge != nil else { return false }
        }
        if let text = file.text("counter", in: 0) {
            counter = UInt64(text)
            guard counter != nil else { return false }
        }
        return true
    }

    private mutating func readSecrets(_ file: borrowing TextFile, at path: String, under key: MasterKey?) -> Bool {
        if let secret = file.secret("enrolment-secret", in: 0) {
            guard let stored = secret.open(under: key, data: headData(at: path)) else { return false }
            if case .open(let text) = stored, text.enrolmentKey?.enrolment != enrolment { return false }
            enrolmentSecret = stored
        }
        for paragraph in 1..<max(1, file.paragraphCount) {
            guard file.names(in: paragraph).isSubset(of: Self.keyNames),
                let text = file.text("public", in: paragraph), let publicKey = try? AnyPublicKey(parsing: text),
                publicKey.kind == kind, let life = KeyLife(file, in: paragraph)
            else { return false }
            var stored = StoredKey(key: publicKey, life: life)
            if let secret = file.secret("secret", in: paragraph) {
                guard life.state != .erased,
                    let opened = secret.open(under: key, data: stored.data(at: path))
                else { return false }
                if case .open(let text) = opened, text.publicKey(of: kind) != publicKey { return false }
                stored.secret = opened
            }
            keys.append(stored)
        }
        return true
    }

    static let headNames: Set<String> = [
        "kind", "created", "topic", "enrolment", "enrolment-secret", "record", "challenge", "counter",
    ]
    static let keyNames: Set<String> = [
        "public", "created", "confirmed", "retired", "revoked", "erased", "state", "secret",
    ]
}

/// A secret's value: in the clear, or `sealed.` and base64url.
private enum FileSecret {
    case clear(SecretText)
    case sealed([UInt8])
    /// Longer than any key's text; guarded memory has a length limit.
    case tooLong

    static var maximumByteCount: Int { KeyKind.maximumCharacterCount }
    static let prefix = Array("sealed.".utf8)

    /// Nil where it does not open, or where one in the clear has no business in a sealed keyring.
    func open(under key: MasterKey?, data: [UInt8]) -> StoredSecret? {
        switch (self, key) {
        case (.clear(let text), nil): return .open(text)
        case (.clear, .some), (.tooLong, _): return nil
        case (.sealed, nil): return .sealed
        case (.sealed(let bytes), let key?):
            guard let opened = key.storage.open(bytes, additionalData: data) else { return nil }
            return opened.withBytes { .open(SecretText(copying: $0)) }
        }
    }
}

extension TextFile {
    fileprivate func secret(_ name: String, in paragraph: Int) -> FileSecret? {
        withValue(name, in: paragraph) { value in
            if value.starts(with: FileSecret.prefix) {
                return .sealed(Base64URL.decode(Array(value.dropFirst(FileSecret.prefix.count))) ?? [])
            }
            guard value.count <= FileSecret.maximumByteCount else { return .tooLong }
            return .clear(SecretText(copying: value))
        }
    }

    func moment(_ name: String, in paragraph: Int) -> Timestamp? {
        text(name, in: paragraph).flatMap(Timestamp.init(iso8601:))
    }
}

extension KeyLife {
    /// Nil where a moment can't be read, or where the state that a person reads is not the one that follows from them.
    fileprivate init?(_ file: borrowing TextFile, in paragraph: Int) {
        var moments: [String: Timestamp] = [:]
        for name in ["created", "confirmed", "retired", "revoked", "erased"] {
            guard let text = file.text(name, in: paragraph) else { continue }
            guard let moment = Timestamp(iso8601: text) else { return nil }
            moments[name] = moment
        }
        guard let created = moments["created"] else { return nil }
        self.init(
            created: created, confirmed: moments["confirmed"], retired: moments["retired"],
            revoked: moments["revoked"], erased: moments["erased"])
        guard file.text("state", in: paragraph) == state.rawValue else { return nil }
    }
}
