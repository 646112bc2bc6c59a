internal import PushCore

/// A service that brings pushes to devices: Apple's production service, its sandbox, or another service. A courier sends
/// the pushes for one carrier through the transport that supports it.
public struct Carrier: Hashable, Sendable, CustomStringConvertible {
    /// The name: 1 to 32 lowercase letters, digits, and hyphens, such as `apns`.
    public let description: String

    /// Creates a carrier, or returns nil unless the name has 1 to 32 lowercase letters, digits, and hyphens.
    public init?(_ name: String) {
        guard (1...Self.maximumByteCount).contains(name.utf8.count), name.utf8.allSatisfy(\.isOfLabel) else {
            return nil
        }
        description = name
    }

    package static let maximumByteCount = 32

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
