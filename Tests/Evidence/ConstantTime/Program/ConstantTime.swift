import CMemcheck
import Foundation
import Glibc
import PushCore
import PushKeyring
import PushSender
import SealedPush

/// Uses secrets under valgrind, which reports each branch and each address that depends on one.
///
/// With `leak`, it compares two secrets in variable time, which valgrind has to report.
@main enum Main {
    static func main() {
        guard memcheck_is_running() != 0 else { fatalError("not under valgrind: run Scripts/special/constant-time") }
        let checks =
            CommandLine.arguments.dropFirst() == ["leak"]
            ? [Check("a comparison that ends early", leak)] : CryptoChecks.all + KeyChecks.all + MessageChecks.all
        var failed = false
        for check in checks {
            let before = memcheck_error_count()
            do { try check.run() } catch {
                failed = true
                print("\(check.name): \(error)")
                continue
            }
            let count = memcheck_error_count() - before
            print("\(check.name): \(count == 0 ? "no reports" : "\(count) reports")")
        }
        exit(failed ? 70 : 0)
    }

    private static func leak() {
        let (secret, other) = (Hidden(count: 32), Hidden(count: 32))
        var index = 0
        while index < 32, secret.bytes[index] == other.bytes[index] { index += 1 }
        print(published(index) < 32 ? "they differ" : "they are the same")
    }
}

/// An operation on secrets that must not branch on them.
struct Check: Sendable {
    let name: String
    let run: @Sendable () throws -> Void

    init(_ name: String, _ run: @escaping @Sendable () throws -> Void) {
        self.name = name
        self.run = run
    }
}

struct Unexpected: Error {}

func require(_ isSo: Bool) throws { if !isSo { throw Unexpected() } }

/// Bytes that memcheck treats as uninitialized, like everything computed from them. It reports each branch and each address
/// that depends on them. Their memory is never freed, so pointers into it stay valid.
struct Hidden {
    private let memory: UnsafeMutableRawBufferPointer

    /// - Parameter known: The number of bytes at the start that aren't secret.
    init(_ bytes: UnsafeRawBufferPointer, known: Int = 0) {
        memory = .allocate(byteCount: bytes.count, alignment: 16)
        memory.copyMemory(from: bytes)
        memcheck_hide(memory.baseAddress! + known, memory.count - known)
    }

    /// Random bytes.
    init(count: Int) {
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255) }
        self.init(bytes)
    }

    init(_ bytes: [UInt8], known: Int = 0) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        self.init(UnsafeRawBufferPointer(copy), known: known)
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(memory) }

    /// The bytes as an array, still hidden.
    var array: [UInt8] {
        var array = [UInt8](repeating: 0, count: memory.count)
        array.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
        return array
    }
}

/// Marks bytes as not secret, or no longer secret.
func publish(_ bytes: UnsafeRawBufferPointer) { memcheck_publish(bytes.baseAddress, bytes.count) }

func publish(_ bytes: [UInt8]) { bytes.withUnsafeBytes { publish($0) } }

func published<Value>(_ value: Value) -> Value {
    var value = value
    withUnsafeMutableBytes(of: &value) { publish(UnsafeRawBufferPointer($0)) }
    return value
}

/// Marks an object's own fields as not secret: the public half of a key, whose secret is stored elsewhere.
func publish(fieldsOf object: AnyObject) {
    let start = Unmanaged.passUnretained(object).toOpaque()
    memcheck_publish(start, memcheck_size(start))
}

/// Checks of keys as text and in a sealed keyring.
enum KeyChecks {
    static let all = [
        Check("a device's key, read and written") { try check(DevicePrivateKey()) },
        Check("a hybrid device's key, read and written") { try check(DevicePrivateKey(.hybrid)) },
        Check("a sender's key, read and written") { try check(SenderPrivateKey()) },
        Check("an authority's key, read and written") { try check(AuthorityPrivateKey()) },
        Check("an enrollment key, read and written") { try check(EnrollmentPrivateKey()) },
        Check("a keyring's key, read and written") {
            let text = KeyringKey().withText { Array($0) }
            let key = try KeyringKey(parsing: hidden(text).array)
            let written = key.withText { Array($0) }
            publish(written)
            try require(written == text)
        },
        Check("a sealed keyring, unlocked with a key") {
            let folder = URL(filePath: "\(FileManager.default.temporaryDirectory.path)/\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let key = KeyringKey()
            let name: KeyName = "newsroom"
            let made = Keyring(folder: folder)
            _ = try made.generateSender(named: name)
            try made.seal(with: .key(key))

            let text = key.withText { Array($0) }
            let again = try KeyringKey(parsing: hidden(text).array)
            let keyring = Keyring(folder: folder, unlocking: .given(.key(again)))
            let sender = try keyring.senderKey(named: name)
            publish(fieldsOf: sender)
            publish(sender.publicKey.bytes)
        },
    ]

    private static func check<Role>(_ key: PrivateKey<Role>) throws {
        let text = key.withSecretText { Array($0) }
        let read = try PrivateKey<Role>(parsing: hidden(text).bytes)
        publish(fieldsOf: read)
        publish(read.publicKey.bytes)
        try require(read.publicKey == key.publicKey)
        let written = read.withSecretText { Array($0) }
        publish(written)
        try require(written == text)
    }

    /// Hides a secret's text, except its beginning, which only reveals the type.
    static func hidden(_ text: [UInt8]) -> Hidden {
        Hidden(text, known: (text.lastIndex(of: UInt8(ascii: "1")) ?? -1) + 1)
    }
}

/// Checks of sealing and opening as apps and servers do it, with a key that was read from hidden text.
enum MessageChecks {
    static let all = [
        Check("sealing to a recipient, first time and again") {
            let sender = try read(SenderPrivateKey())
            let sealer = Sealer(sender: sender, topic: topic, safeDefault: "You have a new message!")
            for phone in [DevicePrivateKey(), DevicePrivateKey(.hybrid)] {
                for _ in 1...2 {
                    let payload = try sealer.seal(Content(title: "Nina", body: "Lunch?"), toUnverified: phone.recipient)
                    publish(payload.envelope.bytes)
                    let opener = Opener(
                        topic: topic, keys: InMemoryKeyStore([DeviceKey(phone, created: .now())]),
                        trusting: [sender.sender])
                    _ = try opener.open(Envelope(parsing: payload.envelope.bytes), at: .now())
                }
            }
        },
        Check("opening an authenticated message, up to its content") {
            try openAuthenticated(with: DevicePrivateKey())
        },
        Check("opening a hybrid message, up to its content") {
            try openAuthenticated(with: DevicePrivateKey(.hybrid))
        },
        Check("opening an anonymous message, up to its content") {
            let phone = DevicePrivateKey()
            let sealer = Sealer(anonymousFor: topic, safeDefault: "You have a new message!")
            try open(
                try sealer.seal(Content(title: "Nina", body: "Lunch?"), toUnverified: phone.recipient).envelope,
                with: phone, from: SenderPrivateKey().sender)
        },
        Check("checking a receipt") {
            let key = Hidden(count: 32)
            let body = ReceiptBody(
                id: ReceiptID([UInt8](repeating: 1, count: ReceiptID.byteCount)),
                number: [UInt8](repeating: 2, count: 16), created: .now(), elapsedMilliseconds: 3,
                counts: [UInt16](repeating: 0, count: ReceiptBody.reasonCount))
            let bytes = body.bytes(key: key.array)
            publish(bytes)
            _ = try ReceiptBody(parsing: bytes, key: key.bytes)
        },
    ]

    private static func openAuthenticated(with phone: DevicePrivateKey) throws {
        let sender = SenderPrivateKey()
        let sealer = Sealer(sender: sender, topic: topic, safeDefault: "You have a new message!")
        try open(
            try sealer.seal(Content(title: "Nina", body: "Lunch?"), toUnverified: phone.recipient).envelope,
            with: phone, from: sender.sender)
    }

    private static func open(_ envelope: Envelope, with phone: DevicePrivateKey, from sender: SenderPublicKey) throws {
        let hidden = try read(phone)
        let opener = Opener(
            topic: topic, keys: InMemoryKeyStore([DeviceKey(hidden, created: .now())]), trusting: [sender],
            allowsAnonymous: true)
        _ = try opener.unseal(envelope, at: .now())
    }

    private static func read<Role>(_ key: PrivateKey<Role>) throws -> PrivateKey<Role> {
        let text = key.withSecretText { Array($0) }
        let read = try PrivateKey<Role>(parsing: KeyChecks.hidden(text).bytes)
        publish(fieldsOf: read)
        publish(read.publicKey.bytes)
        return read
    }

    private static let topic: Topic = "com.example.app"
}

/// Checks of PushCore, function by function.
enum CryptoChecks {
    static let all = [
        Check("comparing") {
            let secret = Hidden(count: 32)
            let (same, other) = (Hidden(secret.bytes), Hidden(count: 32))
            try require(published(ConstantTime.areEqual(secret.bytes, same.bytes)))
            try require(!published(ConstantTime.areEqual(secret.bytes, other.bytes)))
        },
        Check("deriving: HKDF, keyed BLAKE2b") {
            let secret = Hidden(count: 32)
            let prk = WipedBytes(count: 32) { HKDF.extract(salt: label, inputKeyMaterial: secret.bytes, into: $0) }
            let output = WipedBytes(count: 80) { output in prk.withBytes { HKDF.expand($0, info: label, into: output) }
            }
            _ = output.withBytes {
                BLAKE2b.hash([1, 2, 3], key: UnsafeRawBufferPointer(rebasing: $0[..<32]), byteCount: 32)
            }
        },
        Check("sending and receiving contexts: ephemeral key, secret keys, and plaintext hidden") {
            try checkContexts(HPKEInfo([1, 2, 3]), psk: nil)
        },
        Check("the same with a pre-shared key, hidden as well") {
            try checkContexts(HPKEInfo([1, 2, 3], pskID: [4, 5, 6]), psk: Hidden(count: 32).bytes)
        },
        Check("ML-KEM: a seed's key, encapsulation to it, and an altered ciphertext") {
            let seed = Hidden(count: MLKEM768.seedByteCount)
            let key = MLKEM768.publicKey(of: seed.bytes)
            publish(key)
            try require(key.withUnsafeBytes(MLKEM768.isValid))
            let made = MLKEM768.encapsulate(to: key[...])
            var altered = made.ciphertext
            altered[1_000] ^= 1
            for (ciphertext, isSame) in [(made.ciphertext, true), (altered, false)] {
                let isEqual = ciphertext.withUnsafeBytes { ciphertext in
                    MLKEM768.decapsulate(ciphertext, with: seed.bytes).withBytes { secret in
                        made.sharedSecret.withBytes { ConstantTime.areEqual(secret, $0) }
                    }
                }
                try require(published(isEqual) == isSame)
            }
        },
        Check("a sealed box") {
            let (secret, recipient) = randomScalar()
            let plaintext = Hidden(count: 100)
            var box = [UInt8](repeating: 0, count: 148)
            box.withUnsafeMutableBytes { SealedBox.seal(plaintext.bytes, to: recipient.publicKey, into: $0) }
            publish(box)
            let hidden = Scalar(bytes: Hidden(secret).bytes)
            var opened = [UInt8](repeating: 0, count: 100)
            let isOpen = opened.withUnsafeMutableBytes { opened in
                box.withUnsafeBytes { SealedBox.open($0, with: hidden, into: opened) }
            }
            try require(published(isOpen))
        },
        Check("base64url of a key, written and read") {
            for count in [29, 32] {
                let secret = Hidden(count: count)
                var text: [UInt8] = []
                Base64URL.append(secret.array, to: &text)
                guard let read = Base64URL.decode(text) else { throw Unexpected() }
                publish(read)
                publish(secret.bytes)
                try require(read == secret.array)
            }
        },
        Check("storage: sealing, opening, MACs") {
            let key = StorageKey(derivedFrom: Hidden(count: 32).bytes, salt: [7])
            let plaintext = Hidden(count: 64)
            let sealed = key.seal(plaintext.bytes, additionalData: [1])
            publish(sealed)
            guard key.open(sealed, additionalData: [1]) != nil else { throw Unexpected() }
            let mac = key.mac([1, 2, 3])
            try require(published(key.isValid(mac, of: [1, 2, 3])))
            try require(!published(key.isValid(Hidden(count: 32).array, of: [1, 2, 3])))
        },
        Check("signing") {
            let seed = Hidden(count: 32)
            let signature = Ed25519.sign([1, 2, 3], with: seed.bytes)
            publish(signature)
            let publicKey = Ed25519.publicKey(of: seed.bytes)
            publish(publicKey)
            try require(Ed25519.verify(signature, of: [1, 2, 3], by: publicKey))
        },
        Check("a file in chunks") {
            let key = Hidden(count: 32)
            let header = UnsafeMutableRawBufferPointer.allocate(byteCount: 24, alignment: 16)
            defer { header.deallocate() }
            var sealing = SecretStream.Sealing(key: key.bytes, header: header)
            let chunk = Hidden(count: 100)
            var sealed = [UInt8](repeating: 0, count: 117)
            sealed.withUnsafeMutableBytes { sealing.seal(chunk.bytes, isFinal: true, into: $0) }
            publish(UnsafeRawBufferPointer(header))
            publish(sealed)
            var opening = SecretStream.Opening(
                key: key.bytes, header: UnsafeRawBufferPointer(header), maximumChunkByteCount: 100)
            let tag = sealed.withUnsafeBytes { sealed in opening.open(sealed) { _ in } }
            try require(tag != nil)
        },
    ]

    private static func checkContexts(_ info: HPKEInfo, psk: UnsafeRawBufferPointer?) throws {
        let sender = Scalar(bytes: Hidden(count: 32).bytes)
        let (secret, recipient) = randomScalar()
        let ephemeral = Hidden(count: 32)
        let sending = HPKEContext(
            sendingTo: recipient.publicKey, from: sender, info: info,
            ephemeral: WipedBytes(count: 32) { $0.copyMemory(from: ephemeral.bytes) }, psk: psk)
        let plaintext = Hidden(count: 256)
        var sealed = [UInt8](repeating: 0, count: 272)
        sealed.withUnsafeMutableBytes {
            sending.seal(plaintext.bytes, additionalData: label, number: HPKENumber(1), into: $0)
        }
        publish(sealed)
        publish(sending.enc)
        let enc = sending.enc.withUnsafeBytes { X25519PublicKey(checked: $0) }
        let hidden = Scalar(bytes: Hidden(secret).bytes)
        let receiving = HPKEContext(receiving: enc, with: hidden, from: sender.publicKey, info: info, psk: psk)
        var opened = [UInt8](repeating: 0, count: 256)
        let isOpen = opened.withUnsafeMutableBytes { opened in
            sealed.withUnsafeBytes { receiving.open($0, additionalData: label, number: HPKENumber(1), into: opened) }
        }
        try require(published(isOpen))
    }

    private static func randomScalar() -> (secret: [UInt8], key: Scalar) {
        let secret = SecureRandom.bytes(count: X25519.secretByteCount)
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: secret.count, alignment: 16)
        copy.copyBytes(from: secret)
        return (secret, Scalar(bytes: UnsafeRawBufferPointer(copy)))
    }

    private static var label: UnsafeRawBufferPointer {
        let text: StaticString = "a label"
        return UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }
}

/// An X25519 secret in memory that is never freed.
private struct Scalar: X25519Secret, @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    var publicKey: X25519PublicKey { published(X25519.publicKey(of: bytes)) }

    func withScalar<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(bytes)
    }
}
