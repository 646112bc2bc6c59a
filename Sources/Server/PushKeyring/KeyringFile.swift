internal import PushCore
internal import SealedPush

/// The file `keyring.txt`, or a backup, which has the same format: public paragraphs, and a sealed block with all secrets
/// in their order. The last line contains a MAC over every byte before it. An unsealed keyring stores secrets in place, and
/// a checksum instead of the MAC. It detects damage, but anyone can write a new one. Source: Docs/KeyringFormat.md.
struct KeyringFile: ~Copyable {
    /// Nil if it isn't sealed.
    let seal: KeyringSeal?
    private let check: [UInt8]
    private let text: TextFile

    /// Returns nil for anything that ``bytes(of:under:)`` doesn't write, as far as can be told without a secret. Ignores a
    /// byte order mark and CR before LF, which editors and text-mode transfers add. No value contains either.
    init?(parsing bytes: [UInt8]) {
        let marked = bytes.withoutByteOrderMark
        if marked.starts(with: Array("\(Self.versionName): \(Self.version)\r\n".utf8))
            || bytes.hasByteOrderMark && marked.starts(with: Array(Self.versionName.utf8))
        {
            var plain: [UInt8] = []
            // Growing would leave a copy of a secret in memory.
            plain.reserveCapacity(bytes.count)
            defer { wipe(&plain) }
            for index in marked.indices where !marked[index...].starts(with: [0x0d, 0x0a]) {
                plain.append(marked[index])
            }
            self.init(exactly: plain)
        } else {
            self.init(exactly: bytes)
        }
    }

    private init?(exactly bytes: [UInt8]) {
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

    /// Returns the sealing key if this is the right secret. Takes about 0.2 s for a passphrase, or twice that if not in Form C.
    func key(from secret: KeyringSecret) throws(KeyringError) -> KeyringSealKey? {
        guard let seal else { return nil }
        for form in secret.forms {
            let key = try KeyringSealKey(seal, from: form)
            if isKey(key) { return key }
        }
        return nil
    }

    func isKey(_ key: KeyringSealKey) -> Bool { key.seal == seal && key.isRight(check) }

    func isAuthentic(under key: KeyringSealKey) -> Bool {
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

    static let versionName = "sealedpush-keyring"
    private static let version = "1"
    private static let sealedData = Array("sealedpush/v1 keyring secrets".utf8)
}

extension KeyringFile {
    /// Returns the contents, or nil if they're damaged. `key` opens the secrets, once the MAC has been checked; if it's
    /// nil, only their presence is known.
    func contents(under key: KeyringSealKey?) -> KeyringContents? {
        guard var secrets = secrets(under: key), let log = AuditLog.End(text, in: 1) else { return nil }
        var contents = KeyringContents()
        contents.log = log
        var names: [NamedKeys] = []
        for paragraph in 2..<text.count - 1 {
            if text.has("public", in: paragraph) {
                guard let secret = secrets.next("secret", of: text, in: paragraph),
                    let stored = NamedKey(text, in: paragraph, secret: secret), stored.key.kind == names.last?.kind
                else { return nil }
                names[names.count - 1].keys.append(stored)
            } else if text.has("name", in: paragraph) {
                guard let secret = secrets.next("enrollment-secret", of: text, in: paragraph),
                    let keys = NamedKeys(text, in: paragraph, secret: secret)
                else { return nil }
                names.append(keys)
            } else {
                guard contents.trust.read(text, in: paragraph) else { return nil }
            }
        }
        contents.names = Dictionary(names.map { ($0.name, $0) }) { first, _ in first }
        let isWhole = contents.names.count == names.count && names.allSatisfy { !$0.keys.isEmpty } && secrets.isAtEnd
        return isWhole ? contents : nil
    }

    /// Returns the secrets of the sealed block, in order, or nil if the last paragraph is invalid.
    private func secrets(under key: KeyringSealKey?) -> Secrets? {
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
        case inPlace, locked
        case open(ArraySlice<SecretText>)

        /// Returns the secret for a line: `.some(nil)` if there's no such line, or nil if it's damaged.
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

    static let sealedMark = "sealed"
}

extension KeyringFile {
    /// Returns the whole file, which the caller must wipe. All secrets must be open.
    static func bytes(of contents: KeyringContents, under key: KeyringSealKey?) -> [UInt8] {
        let keyCount = contents.names.values.reduce(0) { $0 + $1.keys.count }
        var writer = TextFileWriter(
            capacity: 4_096 + 8_192 * (contents.names.count + contents.trust.entries.count) + 2_048 * keyCount)
        writer.field(versionName, version)
        if let key {
            key.seal.write(to: &writer)
            writer.field("check", Base64URL.encode(key.check))
        } else {
            writer.field("seal", "none")
            writer.comment("Whoever reads this file has the keys: never commit, send or print it.")
        }
        writer.paragraph()
        contents.log.write(to: &writer)
        var secrets: [SecretText] = []
        func write(_ name: String, _ secret: StoredSecret?) {
            switch secret {
            case nil: break
            case .sealed?: preconditionFailure("a sealed keyring must be unlocked before it is written")
            case .open(let text)?:
                guard key != nil else { return text.withBytes { writer.secretField(name, $0) } }
                writer.field(name, sealedMark)
                secrets.append(text)
            }
        }
        for keys in contents.sorted {
            writer.paragraph()
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
        guard let key else {
            writer.field("checksum", Base64URL.encode(writer.bytes.withUnsafeBytes { checksum($0) }))
            return writer.bytes
        }
        if !secrets.isEmpty { writer.field("sealed", Base64URL.encode(sealed(secrets, under: key))) }
        let mac = key.storage.mac(writer.bytes.withUnsafeBytes { macInput($0) })
        writer.field("mac", Base64URL.encode(mac))
        return writer.bytes
    }

    /// Seals the secrets. Each sealing draws a salt, and therefore uses a new key.
    private static func sealed(_ secrets: [SecretText], under key: KeyringSealKey) -> [UInt8] {
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
