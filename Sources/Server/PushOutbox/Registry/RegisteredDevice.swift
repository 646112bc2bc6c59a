public import PushSender
public import SealedPush

/// One installation of the app on one device, as the server knows it.
public struct RegisteredDevice: Hashable, Sendable {
    public let name: DeviceName
    /// Who is logged in there.
    public let user: UserName
    /// The app.
    public let topic: Topic
    /// What is sealed to.
    public internal(set) var keys: DeviceKeys
    /// Where it is delivered to.
    public internal(set) var address: AddressState

    public init(name: DeviceName, user: UserName, topic: Topic, keys: DeviceKeys, address: AddressState) {
        self.name = name
        self.user = user
        self.topic = topic
        self.keys = keys
        self.address = address
    }
}

/// How a device's keys are known.
public enum DeviceKeys: Hashable, Sendable {
    /// By signed records and answered challenges.
    case enrolled(EnrolledDevice)
    /// By the app's login alone: nobody vouches for it. Sent to only where the sender asks for that by name.
    case unverified(DevicePublicKey)
}

/// Whether a device can be sent to.
public enum AddressState: Hashable, Sendable {
    /// The address, and when the app registered it last.
    case active(Address, registered: Timestamp)
    /// Its carrier has refused it, for this reason; it is not used until the app registers it again, or an operator
    /// retries.
    case disabled(Address, registered: Timestamp, reason: String)
    /// None was registered, or the carrier has said for this reason that it is gone.
    case none(Carrier, reason: String?)

    /// Who delivers to the device.
    public var carrier: Carrier {
        switch self {
        case .active(let address, _), .disabled(let address, _, _): address.carrier
        case .none(let carrier, _): carrier
        }
    }

    /// Nil where there is none.
    public var address: Address? {
        switch self {
        case .active(let address, _), .disabled(let address, _, _): address
        case .none: nil
        }
    }
}

/// What became of a record that a phone handed over.
public struct RecordRegistration: Hashable, Sendable {
    /// The device as it is registered now.
    public let device: EnrolledDevice
    /// Why the record was refused; nil if it was taken.
    public let refusal: SealedPush.RecordError?
    /// Recipients of the record before that are not in this one: nothing is sealed to them any more.
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

/// What registering a device has changed.
public struct RegistrationChange: Hashable, Sendable {
    /// Whether the device was not known before.
    public let isNew: Bool
    /// Pushes that waited for someone else at the same place, an earlier user, key or holder of the address, and are
    /// gone.
    public let discardedCount: Int
    /// The device that had the address before, and has none now.
    public let addressTakenFrom: DeviceName?

    package init(isNew: Bool, discardedCount: Int, addressTakenFrom: DeviceName?) {
        self.isNew = isNew
        self.discardedCount = discardedCount
        self.addressTakenFrom = addressTakenFrom
    }
}

/// The app's own name of a user: 1 to 128 bytes of visible text. It stands in the outbox file and in lists.
///
/// Names are the same if their bytes are: `é` in one code point and in two are two names.
public struct UserName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    private let name: Name
    public var description: String { name.text }

    /// Nil unless the text has 1 to 128 bytes, no control characters, and something to see.
    public init?(parsing text: String) {
        guard let name = Name(text) else { return nil }
        self.name = name
    }

    /// A name that stands in the program's own source; an unusable one stops the program.
    public init(stringLiteral text: String) { self = Name.usable(UserName(parsing: text)) }
}

/// The app's own name of one installation on one device, such as an ID that the app makes when it first runs: 1 to 128
/// bytes of visible text. It stays while tokens and keys change, and stands in the outbox file and in lists. One name
/// is one device, whoever is logged in there.
///
/// Compared by its bytes, as a ``UserName`` is.
public struct DeviceName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    private let name: Name
    public var description: String { name.text }

    /// Nil unless the text has 1 to 128 bytes, no control characters, and something to see.
    public init?(parsing text: String) {
        guard let name = Name(text) else { return nil }
        self.name = name
    }

    /// A name that stands in the program's own source; an unusable one stops the program.
    public init(stringLiteral text: String) { self = Name.usable(DeviceName(parsing: text)) }
}

/// Swift's texts are equal if they look the same; databases and codes compare bytes.
private struct Name: Hashable {
    let text: String

    init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), VisibleText.isVisible(text),
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        self.text = text
    }

    static func == (first: Name, second: Name) -> Bool { first.text.utf8.elementsEqual(second.text.utf8) }

    func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }

    static func usable<Value>(_ name: Value?) -> Value {
        guard let name else { preconditionFailure("a user's or a device's name has 1 to 128 visible bytes") }
        return name
    }
}
