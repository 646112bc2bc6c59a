public import PushSender
public import SealedPush

/// One installation of the app on one device, as registered on the server.
public struct RegisteredDevice: Hashable, Sendable {
    /// The device's name, unique in the outbox.
    public let name: DeviceName
    /// The user who is logged in on the device.
    public let user: UserName
    /// The app's topic.
    public let topic: Topic
    /// The keys that messages are sealed to.
    public internal(set) var keys: DeviceKeys
    /// The address that pushes are delivered to.
    public internal(set) var address: AddressState

    /// Creates a registration.
    public init(name: DeviceName, user: UserName, topic: Topic, keys: DeviceKeys, address: AddressState) {
        self.name = name
        self.user = user
        self.topic = topic
        self.keys = keys
        self.address = address
    }
}

/// How a device's keys were established.
public enum DeviceKeys: Hashable, Sendable {
    /// Through signed records and answered challenges.
    case enrolled(EnrolledDevice)
    /// Through the app's login alone, so the key is unverified. Used only if the sender explicitly includes such devices.
    case unverified(DevicePublicKey)
}

/// Whether a device can be sent to.
public enum AddressState: Hashable, Sendable {
    /// The address, and when the app last registered it.
    case active(Address, registered: Timestamp)
    /// The address that the carrier has refused, with the reason. It isn't used until the app registers it again or an
    /// operator retries.
    case disabled(Address, registered: Timestamp, reason: String)
    /// No address was registered, or the carrier has reported that it is gone, with the reason.
    case none(Carrier, reason: String?)

    /// The carrier that delivers to the device.
    public var carrier: Carrier {
        switch self {
        case .active(let address, _), .disabled(let address, _, _): address.carrier
        case .none(let carrier, _): carrier
        }
    }

    /// The address, or `nil` if there is none.
    public var address: Address? {
        switch self {
        case .active(let address, _), .disabled(let address, _, _): address
        case .none: nil
        }
    }
}

/// The result of registering a record that a phone submitted.
public struct RecordRegistration: Hashable, Sendable {
    /// The device as it is registered now.
    public let device: EnrolledDevice
    /// The reason why the record was refused, or `nil` if it was accepted.
    public let refusal: SealedPush.RecordError?
    /// The recipients of the previous record that aren't in this one. Messages are no longer sealed to them.
    public let dropped: [DevicePublicKey]

    init(of record: DeviceRecord, known: RegisteredDevice?, at now: Timestamp) throws(OutboxError) {
        guard case .enrolled(var enrolled)? = known?.keys else {
            do throws(SealedPush.RecordError) {
                device = try EnrolledDevice(pinning: record, topic: record.topic, at: now)
            } catch { throw .record(error) }
            (refusal, dropped) = (nil, [])
            return
        }
        let before = enrolled.record.recipients
        do throws(SealedPush.RecordError) {
            try enrolled.accept(record, at: now)
            refusal = nil
        } catch { refusal = error }
        device = enrolled
        dropped = before.filter { !enrolled.record.recipients.contains($0) }
    }
}

/// The changes made by registering a device.
public struct RegistrationChange: Hashable, Sendable {
    /// Whether the device was not known before.
    public let isNew: Bool
    /// The number of waiting pushes discarded because they were meant for an earlier user, key, or holder of the address.
    public let discardedCount: Int
    /// The device that had the address before and has none now.
    public let addressTakenFrom: DeviceName?

    package init(isNew: Bool, discardedCount: Int, addressTakenFrom: DeviceName?) {
        self.isNew = isNew
        self.discardedCount = discardedCount
        self.addressTakenFrom = addressTakenFrom
    }
}

/// The app's own name for a user: 1 to 128 bytes of visible text. It is stored in the outbox and appears in listings. Names
/// are compared by their bytes: `é` as one code point and as two are different names.
public struct UserName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    private let name: Name
    public var description: String { name.text }

    /// Creates a name, or returns `nil` unless the text has 1 to 128 bytes, no control characters, and a visible character,
    /// and isn't `.` or `..`.
    public init?(parsing text: String) {
        guard let name = Name(text) else { return nil }
        self.name = name
    }

    /// Creates a name from a literal in the program's source; an invalid one stops the program.
    public init(stringLiteral text: String) { self = Name.usable(UserName(parsing: text)) }
}

/// The app's own name for one installation on one device, such as an ID that the app generates when it first runs: 1 to 128
/// bytes of visible text. It stays the same when tokens and keys change, is stored in the outbox, and appears in listings.
/// One name is one device, no matter who is logged in. Names are compared by their bytes, as for a ``UserName``.
public struct DeviceName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    private let name: Name
    public var description: String { name.text }

    /// Creates a name, or returns `nil` unless the text has 1 to 128 bytes, no control characters, and a visible character,
    /// and isn't `.` or `..`.
    public init?(parsing text: String) {
        guard let name = Name(text) else { return nil }
        self.name = name
    }

    /// Creates a name from a literal in the program's source; an invalid one stops the program.
    public init(stringLiteral text: String) { self = Name.usable(DeviceName(parsing: text)) }

    package static let maximumByteCount = Name.maximumByteCount
}

/// A name compared by its bytes, as databases and codes do. Swift strings are equal if they are canonically equivalent.
private struct Name: Hashable {
    let text: String
    static let maximumByteCount = 128

    init?(_ text: String) {
        guard (1...Self.maximumByteCount).contains(text.utf8.count), VisibleText.isVisible(text),
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }),
            // A name can be a segment of a path, and URL parsers remove these two, even if they are escaped.
            text != ".", text != ".."
        else { return nil }
        self.text = text
    }

    static func == (first: Name, second: Name) -> Bool { first.text.utf8.elementsEqual(second.text.utf8) }

    func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }

    static func usable<Value>(_ name: Value?) -> Value {
        guard let name else { preconditionFailure("a user's or device's name must have 1 to 128 visible bytes") }
        return name
    }
}
