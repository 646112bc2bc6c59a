/// A device's row.
package struct FoundDevice: Sendable {
    /// The row's number.
    package let row: Int64
    /// The names as stored, which may be anything.
    package let name: [UInt8]
    let user: [UInt8]
    /// The device, or `nil` if the row was tampered with and isn't a valid device.
    let stored: StoredDevice?

    package init(_ row: some OutboxRow) throws(OutboxError) {
        self.row = try row.int("id")
        name = try row.optionalTextBytes("name") ?? []
        user = try row.optionalTextBytes("user_name") ?? []
        stored = try? StoredDevice(row)
    }

    /// Returns the reason why the device can't be used, or nil if it can.
    func obstacle(_ key: OutboxKey?) -> UnusableDevice.Reason? {
        guard let stored else { return .damaged }
        return key?.accepts(stored) ?? true ? nil : .forged
    }
}
