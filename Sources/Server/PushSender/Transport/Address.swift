internal import PushCore

/// The destination of a push: the carrier, and the carrier's address for an app on one device. It isn't secret, but it
/// identifies a person's device, so logs and metrics show only ``logged``.
public struct Address: Hashable, Sendable {
    /// The service that carries pushes to this address.
    public let carrier: Carrier
    /// The carrier's address: 1 to 1,024 bytes, or 1 to 100 for APNs.
    public let bytes: [UInt8]

    /// Creates an address, or returns nil unless there are 1 to 1,024 bytes, or 1 to 100 for APNs.
    public init?(_ bytes: [UInt8], of carrier: Carrier) {
        let maximum = carrier.environment == nil ? Self.maximumByteCount : DeviceToken.maximumByteCount
        guard (1...maximum).contains(bytes.count) else { return nil }
        self.carrier = carrier
        self.bytes = bytes
    }

    private init(_ token: DeviceToken, of carrier: Carrier) {
        self.carrier = carrier
        bytes = token.bytes
    }

    /// Returns the address for an APNs device token.
    public static func apns(_ token: DeviceToken, _ environment: PushEnvironment = .production) -> Address {
        Address(token, of: .apns(environment))
    }

    /// The limit for carriers other than APNs.
    package static let maximumByteCount = 1_024

    /// The first four bytes in hexadecimal, for logs.
    public var logged: String { Hex.encode(Array(bytes.prefix(4))) + (bytes.count > 4 ? "…" : "") }

    /// The whole address. Don't log it.
    package var hexadecimal: String { Hex.encode(bytes) }
}

extension Address: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The carrier and ``logged``, not the whole address.
    public var description: String { "\(carrier) \(logged)" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// A mirror without children, so that dumping an address doesn't reveal it.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
