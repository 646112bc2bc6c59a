/// A device with the codes stored in its rows.
package struct StoredDevice: Sendable {
    package let device: RegisteredDevice
    package let codes: DeviceCodes
    /// Whether the columns from which a broadcast chooses the recipient match the device's record.
    package let isSealedToItsKey: Bool
}
