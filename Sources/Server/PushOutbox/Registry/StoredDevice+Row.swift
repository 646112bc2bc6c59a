import PushSender
package import SealedPush

extension StoredDevice {
    /// Throws `damaged` if the row isn't a valid device. A verified `record` isn't verified again if it is this device's.
    package init(_ row: some OutboxRow, knowing record: DeviceRecord? = nil) throws(OutboxError) {
        let names = try DeviceRowNames(row)
        device = RegisteredDevice(
            name: names.device, user: names.user, topic: names.topic, keys: try RegisteredKeys(row, knowing: record),
            address: try AddressState(row))
        isSealedToItsKey = try SealingKey(row) == SealingKey(device.keys)
        codes = DeviceCodes(
            pin: try row.optionalBytes("pin_code"), address: try row.optionalBytes("address_code"),
            enrollment: try row.optionalBytes("code"))
    }
}

extension AddressState {
    package init(_ row: some OutboxRow) throws(OutboxError) {
        guard let carrier = Carrier(try row.text("carrier")) else { throw .damaged }
        let refusal = try row.optionalText("token_refusal")
        guard let bytes = try row.optionalBytes("token") else {
            self = .none(carrier, reason: refusal)
            return
        }
        guard let address = Address(bytes, of: carrier) else { throw .damaged }
        let registered = try row.time("token_registered")
        self =
            refusal.map { .disabled(address, registered: registered, reason: $0) }
            ?? .active(address, registered: registered)
    }
}

extension RegisteredKeys {
    fileprivate init(_ row: some OutboxRow, knowing known: DeviceRecord?) throws(OutboxError) {
        do {
            guard let enrollment = try row.optionalText("enrollment") else {
                guard let recipient = try row.recipient() else { throw OutboxError.damaged }
                self = .unverified(recipient)
                return
            }
            let text = try row.text("record")
            let record = if let known, known.description == text { known } else { try DeviceRecord(parsing: text) }
            let isSigner = record.enrollment.description == enrollment
            self = .enrolled(
                try EnrolledDevice(
                    loading: isSigner ? record.enrollment : try EnrollmentPublicKey(parsing: enrollment),
                    record: record,
                    proven: try row.text("proven").split(separator: " ").map {
                        try DevicePublicKey(parsing: String($0))
                    }))
        } catch { throw .damaged }
    }
}
