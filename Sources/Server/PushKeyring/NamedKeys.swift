internal import PushSender

/// The entry for one name: the keys of a device, sender, or authority, newest first, each with its life.
struct NamedKeys: Sendable {
    let name: KeyName
    let kind: AnyPublicKey.Kind
    let created: Timestamp
    var topic: Topic?
    /// The key that signs a device's records. Kept as text, because parsing it checks a point on the curve.
    private(set) var enrollmentText: String?
    var enrollmentSecret: StoredSecret?
    /// A device's newest record. Kept as text, because parsing it checks a signature.
    private(set) var recordText: String?
    private(set) var recordExpires: Timestamp?
    /// The challenge that another owner's device should answer.
    var challenge: PendingChallenge?
    /// The counter of the last sender set that an authority signed, or of a device's last record while it has none.
    var counter: UInt64?
    /// Lines that a later version added.
    private(set) var laterLines: [String: String] = [:]
    var keys: [NamedKey]

    init(_ name: KeyName, kind: AnyPublicKey.Kind, created: Timestamp, keys: [NamedKey] = []) {
        self.name = name
        self.kind = kind
        self.created = created
        self.keys = keys
    }

    var enrollment: EnrollmentPublicKey? {
        get { enrollmentText.flatMap { try? EnrollmentPublicKey(parsing: $0) } }
        set { enrollmentText = newValue?.description }
    }

    var record: DeviceRecord? {
        get { recordText.flatMap { try? DeviceRecord(parsing: $0) } }
        set { (recordText, recordExpires) = (newValue?.description, newValue?.expires) }
    }

    /// Whether the secrets are, or were, stored here, in whatever state.
    var isOwn: Bool { keys.contains { $0.secret != nil || $0.life.state == .erased } }

    /// The keys' lives, and the rules that they follow. Set this after a step that doesn't add a key.
    var rotation: KeyRotation<AnyPublicKey> {
        get { KeyRotation(keys.map { ($0.key, $0.life) }) }
        set { for index in keys.indices { keys[index].life = newValue.members[index].life } }
    }

    /// The newest active key.
    var newest: NamedKey? { keys.first { $0.life.state == .active } }
    var newestConfirmed: NamedKey? { keys.first { $0.life.state == .active && $0.life.confirmed != nil } }
    /// The active key to use next: the newest confirmed one, if there is one. Your own device proves its new key by having it,
    /// but devices must learn a sender's new key first.
    var current: NamedKey? { kind == .device && isOwn ? newest : newestConfirmed ?? newest }

    /// A device's own keys that can open messages: active and retired ones, newest first.
    var deviceKeys: [DeviceKey] {
        keys.filter(\.life.opens).compactMap { stored in
            stored.privateKey(DeviceRole.self).map { DeviceKey($0, life: stored.life) }
        }
    }

    /// A device with a record, as a server stores it; nil if it has no record.
    var enrolledDevice: EnrolledDevice? {
        guard let enrollment, let record else { return nil }
        let proven = keys.filter { $0.life.state == .active && $0.life.confirmed != nil }.compactMap(\.key.device)
        return try? EnrolledDevice(loading: enrollment, record: record, proven: proven)
    }

    /// The error for a name without any key in a state that allows the operation.
    var notUsable: KeyringError { .notUsable(name, keys[0].life.state) }

    /// Whether each secret matches its public key, and the record is signed and agrees with the other fields.
    var isConsistent: Bool {
        if case .open? = enrollmentSecret, enrollmentSecret?.key(EnrollmentRole.self)?.enrollment != enrollment {
            return false
        }
        if let recordText {
            guard let record, record.enrollment == enrollment, record.topic == topic, record.description == recordText,
                record.expires == recordExpires
            else { return false }
        }
        return keys.allSatisfy { stored in
            guard case .open? = stored.secret else { return true }
            return switch kind {
            case .device: stored.privateKey(DeviceRole.self) != nil
            case .sender: stored.privateKey(SenderRole.self) != nil
            case .authority: stored.privateKey(AuthorityRole.self) != nil
            }
        }
    }
}

extension NamedKeys {
    /// Reads a name's first paragraph, or returns nil if a value is invalid.
    init?(_ file: borrowing TextFile, in paragraph: Int, secret: StoredSecret?) {
        guard let name = file.text("name", in: paragraph).flatMap(KeyName.init(parsing:)),
            let kind = file.text("kind", in: paragraph).flatMap(AnyPublicKey.Kind.init(rawValue:)),
            let created = file.moment("created", in: paragraph)
        else { return nil }
        self.init(name, kind: kind, created: created)
        func isRead<Value>(_ name: String, _ value: Value?) -> Bool { (value != nil) == file.has(name, in: paragraph) }
        topic = file.text("topic", in: paragraph).flatMap(Topic.init(parsing:))
        challenge = file.text("challenge", in: paragraph).flatMap { try? PendingChallenge(parsing: $0) }
        counter = file.text("counter", in: paragraph).flatMap { UInt64($0) }
        recordExpires = file.moment("record-expires", in: paragraph)
        enrollmentText = file.text("enrollment", in: paragraph)
        recordText = file.text("record", in: paragraph)
        enrollmentSecret = secret
        laterLines = file.lines(except: Self.names, in: paragraph)
        guard isRead("topic", topic), isRead("challenge", challenge), isRead("counter", counter),
            isRead("record-expires", recordExpires), (recordText == nil) == (recordExpires == nil)
        else { return nil }
    }

    func write(to writer: inout TextFileWriter) {
        writer.field("name", name.description)
        writer.field("kind", kind.rawValue)
        writer.field("created", created.iso8601)
        writer.field("topic", topic?.description)
        writer.field("enrollment", enrollmentText)
        writer.field("record", recordText)
        writer.field("record-expires", recordExpires?.iso8601)
        writer.field("challenge", challenge?.storedText)
        writer.field("counter", counter.map { String($0) })
        writer.fields(laterLines)
    }

    private static let names: Set<String> = [
        "name", "kind", "created", "topic", "enrollment", "enrollment-secret", "record", "record-expires", "challenge",
        "counter",
    ]
}

extension KeyLife {
    /// Returns nil if a time can't be read, or if the state in the file doesn't follow from the times.
    init?(_ file: borrowing TextFile, in paragraph: Int) {
        var moments: [String: Timestamp] = [:]
        for name in ["created", "confirmed", "retired", "revoked", "erased"] where file.has(name, in: paragraph) {
            guard let moment = file.moment(name, in: paragraph) else { return nil }
            moments[name] = moment
        }
        self.init(moments: moments)
        guard file.text("state", in: paragraph) == state.rawValue else { return nil }
    }
}
