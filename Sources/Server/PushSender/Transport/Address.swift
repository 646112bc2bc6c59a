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
        let maximumByteCount = carrier.environment == nil ? 1_024 : DeviceToken.maximumByteCount
        guard (1...maximumByteCount).contains(bytes.count) else { return nil }
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

/// A service that brings pushes to devices: Apple's production service, its sandbox, or another service. A courier sends
/// the pushes for one carrier through the transport that supports it.
public struct Carrier: Hashable, Sendable, CustomStringConvertible {
    /// The name: 1 to 32 lowercase letters, digits, and hyphens, such as `apns`.
    public let description: String

    /// Creates a carrier, or returns nil unless the name has 1 to 32 lowercase letters, digits, and hyphens.
    public init?(_ name: String) {
        guard (1...32).contains(name.utf8.count), name.utf8.allSatisfy(\.isOfLabel) else { return nil }
        description = name
    }

    private init(of environment: PushEnvironment) {
        switch environment {
        case .production: description = "apns"
        case .sandbox: description = "apns-sandbox"
        }
    }

    /// Returns the carrier for one of Apple's services.
    public static func apns(_ environment: PushEnvironment = .production) -> Carrier { Carrier(of: environment) }

    /// The Apple service, or nil if the carrier isn't Apple's.
    public var environment: PushEnvironment? { PushEnvironment.allCases.first { Carrier(of: $0) == self } }
}

/// The APNs token for an app on a device: 1 to 100 bytes, which the app sends to its server in hexadecimal. Apple says not
/// to rely on its length (32 bytes today, more in Xcode's simulator).
public struct DeviceToken: Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]

    /// The token in lowercase hexadecimal.
    public var description: String { Hex.encode(bytes) }

    /// Creates a token, or returns nil unless the text has 2 to 200 hexadecimal digits, and an even number of them.
    public init?(parsing text: String) {
        guard (2...2 * Self.maximumByteCount).contains(text.utf8.count), let bytes = Hex.decode(text) else {
            return nil
        }
        self.bytes = bytes
    }

    fileprivate static let maximumByteCount = 100
}
