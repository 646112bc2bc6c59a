/// The codes stored with a device's rows.
package struct DeviceCodes: Hashable, Sendable {
    /// The code of the recipient key and its user.
    package var pin: [UInt8]?
    /// The code of the address.
    package var address: [UInt8]?
    /// The code of the enrollment key and its record.
    package var enrollment: [UInt8]?
}
