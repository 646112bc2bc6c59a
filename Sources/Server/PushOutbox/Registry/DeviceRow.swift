import PushSender

/// A device as a database stores it.
package struct DeviceRow: Sendable {
    package let name: String
    package let user: String
    package let topic: String
    package let carrier: String
    package let address: [UInt8]?
    /// When the address was registered, in milliseconds since 1970.
    package let registered: Int64
    package let refusal: String?
    /// The recipient key has dedicated columns, so that a broadcast reads no records. Records were verified when they
    /// arrived; verifying them again against a key in the same row would prove nothing.
    package let key: SealingKey
    package let enrollment: Registrant?
    package private(set) var codes = DeviceCodes()

    package struct Registrant: Sendable {
        package let key: String
        package let record: String
        /// The recipients, separated by spaces.
        package let proven: String
    }

    package init(_ stored: StoredDevice) {
        self.init(stored.device)
        codes = stored.codes
    }

    /// Creates a row without codes.
    init(_ device: RegisteredDevice) {
        let time: Timestamp?
        (time, refusal) =
            switch device.address {
            case .active(_, let time): (time, nil)
            case .disabled(_, let time, let reason): (time, reason)
            case .none(_, let reason): (nil, reason)
            }
        registered = (time?.secondsSince1970 ?? 0) * 1_000
        name = device.name.description
        user = device.user.description
        topic = device.topic.description
        carrier = device.address.carrier.description
        address = device.address.address?.bytes
        key = SealingKey(device.keys)
        enrollment =
            if case .enrolled(let enrolled) = device.keys {
                Registrant(
                    key: enrolled.enrollment.description, record: enrolled.record.description,
                    proven: enrolled.proven.map(\.description).sorted().joined(separator: " "))
            } else { nil }
    }
}
