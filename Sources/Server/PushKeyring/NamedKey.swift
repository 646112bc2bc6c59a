internal import SealedPush

struct NamedKey: Sendable {
    let key: AnyPublicKey
    var life: KeyLife
    var secret: StoredSecret?
    /// Lines that a later version added.
    private(set) var laterLines: [String: String] = [:]

    /// The secret key, or nil unless it's here and matches the public key. In an unsealed keyring, it may not match.
    func privateKey<Role: NamedRole>(_ role: Role.Type) -> PrivateKey<Role>? {
        secret?.key(role).flatMap { key == Role.named($0.publicKey) ? $0 : nil }
    }

    mutating func erase(at now: Timestamp) {
        life.erase(at: now)
        secret = nil
    }
}

extension NamedKey {
    /// Creates a first key, which doesn't replace another.
    init<Role: NamedRole>(_ key: PrivateKey<Role>, at now: Timestamp) {
        self.init(
            key: Role.named(key.publicKey), life: KeyLife(created: now, confirmed: now), secret: StoredSecret(key))
    }

    /// Creates a key from imported text, or returns nil if the text isn't the secret key of a role that has names.
    static func imported(_ text: [UInt8], at now: Timestamp) -> NamedKey? {
        (try? DevicePrivateKey(parsing: text)).map { NamedKey($0, at: now) }
            ?? (try? SenderPrivateKey(parsing: text)).map { NamedKey($0, at: now) }
            ?? (try? AuthorityPrivateKey(parsing: text)).map { NamedKey($0, at: now) }
    }
}

extension NamedKey {
    init?(_ file: borrowing TextFile, in paragraph: Int, secret: StoredSecret?) {
        guard let key = file.text("public", in: paragraph).flatMap({ try? AnyPublicKey(parsing: $0) }),
            let life = KeyLife(file, in: paragraph), life.state != .erased || secret == nil
        else { return nil }
        self.init(key: key, life: life, secret: secret)
        laterLines = file.lines(except: Self.names, in: paragraph)
    }

    func write(to writer: inout TextFileWriter) {
        writer.field("public", key.description)
        writer.field("state", life.state.rawValue)
        writer.field("created", life.created.iso8601)
        writer.field("confirmed", life.confirmed?.iso8601)
        writer.field("retired", life.retired?.iso8601)
        writer.field("revoked", life.revoked?.iso8601)
        writer.field("erased", life.erased?.iso8601)
        writer.fields(laterLines)
    }

    private static let names: Set<String> = [
        "public", "created", "confirmed", "retired", "revoked", "erased", "state", "secret",
    ]
}
