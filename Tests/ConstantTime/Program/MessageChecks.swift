import PushSender
import SealedPush

/// Sealing and opening as apps and servers do, with a key that was read from hidden text.
enum MessageChecks {
    static let all = [
        Check("sealing, to a recipient for the first time and again") {
            let sender = try read(SenderPrivateKey())
            let sealer = Sealer(sender: sender, topic: topic, safeDefault: "You have a new message!")
            let phone = DevicePrivateKey()
            for _ in 1...2 {
                let payload = try sealer.seal(Content(title: "Nina", body: "Lunch?"), toUnverified: phone.recipient)
                publish(payload.envelope.bytes)
                let opener = Opener(
                    topic: topic, keys: InMemoryKeyStore([DeviceKey(phone, created: .now())]), trusting: [sender.sender]
                )
                _ = try opener.open(Envelope(parsing: payload.envelope.bytes), at: .now())
            }
        },
        Check("opening an authenticated message, up to its content") {
            let (sender, phone) = (SenderPrivateKey(), DevicePrivateKey())
            let sealer = Sealer(sender: sender, topic: topic, safeDefault: "You have a new message!")
            try open(
                try sealer.seal(Content(title: "Nina", body: "Lunch?"), toUnverified: phone.recipient).envelope,
                with: phone, from: sender.sender)
        },
        Check("opening an anonymous message, up to its content") {
            let phone = DevicePrivateKey()
            let sealer = Sealer(anonymousFor: topic, safeDefault: "You have a new message!")
            try open(
                try sealer.seal(Content(title: "Nina", body: "Lunch?"), toUnverified: phone.recipient).envelope,
                with: phone, from: SenderPrivateKey().sender)
        },
        Check("a receipt that is checked") {
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
