internal import PushCore
internal import SealedPush

/// All that a keyring holds.
struct KeyringContents: Sendable {
    var names: [KeyName: NamedKeys] = [:]
    var trust = TrustList()
    var log = AuditLog.End.start

    var sortedNames: [KeyName] { names.keys.sorted { $0.description < $1.description } }
}

/// The file `keyring.txt`, and a backup, which is the same: what anybody may read, a sealed block with all secrets, and
/// in its last line a MAC over every byte before.
///
///     sealedpush-keyring: 1        what seals it, and how much a guess costs
///     seal: passphrase
///     …
///
///     log-bytes: 1234              where the audit log ends
///     log-hash: …
///
///     name: newsroom               one name
///     kind: sender
///     …
///
///     public: pushsender1…         its keys, newest first
///     state: active
///     …
///     secret: sealed
///
///     topic: com.example.app       whom devices believe
///     sender: pushsender1…
///     added: …
///
///     sealed: …                    the secrets, in the order in which the lines above name them
///     mac: …
///
/// In a keyring that is not sealed, `secret` is the secret's text, and a checksum takes the MAC's place: it shows damage,
/// and stops nobody who writes a new one.
struct KeyringFile: ~Copyable {
    /// Nil if it is not sealed.
    let seal: KeyringSeal?
    private let check: [UInt8]
    private let text: TextFile

    /// Nil for what ``bytes(of:under:)`` does not write, as far as can be told without a secret.
    init?(parsing bytes: [UInt8]) {
        guard bytes.starts(with: Array("\(Self.versionName): \(Self.version)\n".utf8)),
            let text = TextFile(parsing: bytes), text.count >= 3
        else { return nil }
        let isClear = text.text("seal", in: 0) == "none"
        let seal = isClear ? nil : KeyringSeal(text)
        let check = text.bytes("check", in: 0)
        let isWhole =
            isClear
            ? text.names(in: 0) == [Self.versionName, "seal"] && Self.isUndamaged(text) : seal != nil && check != nil
        guard isWhole else { return nil }
        self.seal = seal
        self.check = check ?? []
        self.text = text
    }

    /// Whether this is the key that sealed it.
    func isKey(_ key: MasterKey) -> Bool { seal?.isRight(key, check: check) ?? false }

    /// Whether its MAC is right.
    func isAuthentic(under key: MasterKey) -> Bool {
        text.withLastLine("mac") { mac, bytes in mac.map { key.storage.isValid($0, of: Self.macInput(bytes)) } ?? false
        } ?? false
    }

    private static func isUndamaged(_ text: borrowing TextFile) -> Bool {
        text.withLastLine("checksum") { checksum, bytes in checksum == Self.checksum(bytes) } ?? false
    }

    private static func macInput(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        Array("sealedpush/v1 keyring file".utf8) + [0] + Array(bytes)
    }

    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var input = Array(bytes)
        defer { wipe(&input) }
        return BLAKE2b.hash(input, byteCount: 32)
    }

    private static let versionName = "sealedpush-keyring"
    private static let version = "1"
    private static let sealedData = Array("sealedpush/v1 keyring secrets".utf8)
}

extension KeyringFile {
    /// What it holds; nil if it is damaged.
    ///
    /// - Parameter key: opens the secrets, once the MAC was checked; nil to know only that they are there.
    func contents(under key: MasterKey?) -> KeyringContents? {
        guard var secrets = secrets(under: key), let log = AuditLog.End(text, in: 1) else { return nil }
        var contents = KeyringContents()
        contents.log = log
        var current: (name: KeyName, keys: NamedKeys)?
        for paragraph in 2..<text.count - 1 {
            let isKey = text.has("public", in: paragraph)
            if !isKey, let (name, keys) = current {
                guard !keys.keys.isEmpty else { return nil }
                contents.names[name] = keys
                current = nil
            }
            if isKey {
                guard let secret = secrets.next("secret", of: text, in: paragraph),
                    let stored = StoredKey(text, in: paragraph, secret: secret), stored.key.kind == current?.keys.kind
                else { return nil }
                current?.keys.keys.append(stored)
            } else if text.has("name", in: paragraph) {
                guard let name = text.text("name", in: paragraph).flatMap(KeyName.init(parsing:)),
                    contents.names[name] == nil,
                    let secret = secrets.next("enrollment-secret", of: text, in: paragraph),
                    let keys = NamedKeys(text, in: paragraph, secret: secret)
                else { return nil }
                current = (name, keys)
            } else {
                guard contents.trust.read(text, in: paragraph) else { return nil }
            }
        }
        if let (name, keys) = current {
            guard !keys.keys.isEmpty else { return nil }
            contents.names[name] = keys
        }
        return secrets.isAtEnd ? contents : nil
    }

    /// The secrets of the sealed block, in order; nil if the last paragraph is not one of this file.
    private func secrets(under key: MasterKey?) -> Secrets? {
        let last = text.names(in: text.count - 1)
        guard seal != nil else { return last == ["checksum"] ? .inPlace : nil }
        guard last == ["mac"] || last == ["sealed", "mac"] else { return nil }
        guard let key else { return .locked }
        guard last.contains("sealed") else { return .open([]) }
        guard let sealed = text.bytes("sealed", in: text.count - 1),
            let block = key.storage.open(sealed, additionalData: Self.sealedData)
        else { return nil }
        let texts = block.withBytes { block in
            block.split(separator: UInt8(ascii: "\n")).compactMap {
                SecretText(copying: UnsafeRawBufferPointer(rebasing: $0))
            }
        }
        return .open(texts[...])
    }

    private enum Secrets {
        case inPlace
        case locked
        case open(ArraySlice<SecretText>)

        /// The secret that a line names: `.some(nil)` if there is no such line, nil if it is damaged.
        mutating func next(_ name: String, of file: borrowing TextFile, in paragraph: Int) -> StoredSecret?? {
            guard file.has(name, in: paragraph) else { return .some(nil) }
            let isSealed = file.withValue(name, in: paragraph) { $0.elementsEqual(Array(KeyringFile.sealedMark.utf8)) }
            switch self {
            case .inPlace:
                let secret = file.withValue(name, in: paragraph) { SecretText(copying: $0) }
                guard isSealed == false, let secret, let secret else { return nil }
                return .open(secret)
            case .locked: return isSealed == true ? .sealed : nil
            case .open(var rest):
                guard isSealed == true, let secret = rest.popFirst() else { return nil }
                self = .open(rest)
                return .open(secret)
            }
        }

        var isAtEnd: Bool {
            guard case .open(let rest) = self else { return true }
            return rest.isEmpty
        }
    }

    fileprivate static let sealedMark = "sealed"
}

extension KeyringFile {
    /// The whole file, which the caller wipes. All secrets must be open.
    static func bytes(of contents: KeyringContents, under seal: SealKey?) -> [UInt8] {
        let keyCount = contents.names.values.reduce(0) { $0 + $1.keys.count }
        var writer = TextFileWriter(
            capacity: 4_096 + 8_192 * (contents.names.count + contents.trust.entries.count) + 2_048 * keyCount)
        writer.field(versionName, version)
        if let seal { seal.seal.write(to: &writer, under: seal.key) } else { writer.field("seal", "none") }
        if seal == nil { writer.comment("Whoever reads this file has the keys: never commit, send or print it.") }
        writer.paragraph()
        contents.log.write(to: &writer)
        var secrets: [SecretText] = []
        func write(_ name: String, _ secret: StoredSecret?) {
            switch secret {
            case nil: break
            case .sealed?: preconditionFailure("a sealed keyring is written only once it is unlocked")
            case .open(let text)?:
                guard seal != nil else { return text.withBytes { writer.secretField(name, $0) } }
                writer.field(name, sealedMark)
                secrets.append(text)
            }
        }
        for name in contents.sortedNames {
            guard let keys = contents.names[name] else { continue }
            writer.paragraph()
            writer.field("name", name.description)
            keys.write(to: &writer)
            write("enrollment-secret", keys.enrollmentSecret)
            for stored in keys.keys {
                writer.paragraph()
                stored.write(to: &writer)
                write("secret", stored.secret)
            }
        }
        contents.trust.write(to: &writer)
        writer.paragraph()
        guard let seal else {
            writer.field("checksum", Base64URL.encode(writer.bytes.withUnsafeBytes { checksum($0) }))
            return writer.bytes
        }
        if !secrets.isEmpty { writer.field("sealed", Base64URL.encode(sealed(secrets, under: seal.key))) }
        let mac = seal.key.storage.mac(writer.bytes.withUnsafeBytes { macInput($0) })
        writer.field("mac", Base64URL.encode(mac))
        return writer.bytes
    }

    /// Under a key of its own, since each sealing draws a salt.
    private static func sealed(_ secrets: [SecretText], under key: MasterKey) -> [UInt8] {
        let count = secrets.reduce(0) { sum, secret in sum + secret.withBytes { $0.count } + 1 }
        let block = WipedBytes(count: count) { output in
            var offset = 0
            for secret in secrets {
                secret.withBytes { text in
                    UnsafeMutableRawBufferPointer(rebasing: output[offset..<offset + text.count]).copyMemory(from: text)
                    offset += text.count
                }
                output[offset] = UInt8(ascii: "\n")
                offset += 1
            }
        }
        return block.withBytes { key.storage.seal($0, additionalData: sealedData) }
    }
}
