/// The limits of a list. Source: Specification 11.1.
package enum ListForm {
    static let version: UInt8 = 3
    package static let keyCounts = 1...16
    static let maximumByteCount = 8_192

    /// The days for which a device may keep retired secrets.
    package static let keeps = 1...31
    /// Returns the allowed days in a list; a sender set has none.
    static func keeps(_ kind: KeyKind) -> ClosedRange<Int> { kind == .device ? keeps : 0...0 }
}
