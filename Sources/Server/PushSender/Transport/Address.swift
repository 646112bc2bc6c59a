internal import PushCore

/// Where a push goes: who carries it, and what an app on one device is known by there.
///
/// It is no secret, but it identifies a person's device: logs and metrics show ``logged`` only.
public struct Address: Hashable, Sendable {
    public let carrier: Carrier
    /// As the carrier has given them: 1 to 1,024; of APNs, 1 to 100.
    public let bytes: [UInt8]

    /// Nil unless there are 1 to 1,024 bytes, or 1 to 100 of APNs.
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

    /// The one that APNs knows by a token.
    public static func apns(_ token: DeviceToken, _ environment: PushEnvironment = .production) -> Address {
        Address(token, of: .apns(environment))
    }

    /// The first four bytes in hexadecimal, for logs.
    public var logged: String { Hex.encode(Array(bytes.prefix(4))) + (bytes.count > 4 ? "…" : "") }

    /// All of it: nothing for logs.
    package var hexadecimal: String { Hex.encode(bytes) }
}

extension Address: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Not all of it.
    public var description: String { "\(carrier) \(logged)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Who brings pushes to devices: Apple's production service, its sandbox, or another. A courier sends what is for one carrier,
/// through the transport that speaks to it.
public struct Carrier: Hashable, Sendable, CustomStringConvertible {
    /// 1 to 32 small letters, digits and hyphens: `apns`.
    public let description: String

    /// Nil unless the name has 1 to 32 small letters, digits and hyphens.
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

    public static func apns(_ environment: PushEnvironment = .production) -> Carrier { Carrier(of: environment) }

    /// Which of Apple's services it is; nil for another's.
    public var environment: PushEnvironment? { PushEnvironment.allCases.first { Carrier(of: $0) == self } }
}

/// What APNs knows a device and app by: 1 to 100 bytes, which an app sends to its server in hexadecimal.
///
/// Apple says not to rely on its length (32 bytes today, more in Xcode's simulator).
public struct DeviceToken: Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]

    /// In small letters.
    public var description: String { Hex.encode(bytes) }

    /// Nil unless the text is an even number of hexadecimal digits, 2 to 200.
    public init?(parsing text: String) {
        guard (2...2 * Self.maximumByteCount).contains(text.utf8.count), let bytes = Hex.decode(text) else {
            return nil
        }
        self.bytes = bytes
    }

    fileprivate static let maximumByteCount = 100
}
