/// The devices of a listing, and the rows among them that can't be used.
package struct DeviceListing: Sendable {
    package private(set) var devices: [RegisteredDevice] = []
    /// The first 1,000: an attacker may have written any number.
    package private(set) var unusable: [UnusableDevice] = []

    mutating func add(_ found: FoundDevice, _ key: OutboxKey?) {
        if let row = UnusableDevice(found, key) {
            if unusable.count < Self.maximumCount { unusable.append(row) }
        } else if let device = found.stored?.device {
            devices.append(device)
        }
    }

    private static let maximumCount = 1_000
}
