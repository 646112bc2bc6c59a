package import SealedPush

/// A change of a device, made in the transaction that reads it.
package struct DeviceChange: Sendable {
    package let name: DeviceName
    /// The user who was logged in on the device before, if it was a different one.
    package var previous: UserName?
    let key: OutboxKey?
    /// A record that was submitted and verified. If the same record is stored, it isn't verified again.
    package var record: DeviceRecord?
    /// The maximum number of devices for the user.
    package var deviceLimit = Int.max
    let apply: @Sendable (RegisteredDevice?) throws(OutboxError) -> RegisteredDevice

    /// Reads the device's row, if there is one. Throws `damagedDevice`.
    func known(_ row: (some OutboxRow)?) throws(OutboxError) -> (id: Int64, stored: StoredDevice)? {
        guard let row else { return nil }
        let id = try row.int("id")
        do throws(OutboxError) { return (id, try StoredDevice(row, knowing: record)) } catch {
            throw .damagedDevice(name)
        }
    }

    /// Returns the new state for the old one. May be called repeatedly. No other caller changes the device in the meantime.
    func next(_ known: StoredDevice?) throws(OutboxError) -> StoredDevice {
        if let key, let known, !key.accepts(known) { throw .forged(name) }
        let device = try apply(known?.device)
        return StoredDevice(device: device, codes: key?.codes(of: device) ?? DeviceCodes(), isSealedToItsKey: true)
    }
}
