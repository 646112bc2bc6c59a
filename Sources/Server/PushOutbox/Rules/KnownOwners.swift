/// The facts about other devices that a store looks up before it registers one.
package struct KnownOwners: Sendable {
    /// The number of devices of ``Registration/countedUser``.
    let deviceCount: Int
    /// Other users' devices, under other names, with ``Registration/enrollment``.
    let enrolled: [Enrolled]
    /// The device, under another name, that has ``Registration/address``.
    let holder: Holder?

    struct Enrolled: Sendable {
        let row: Int64
        /// Whether the device has answered a challenge.
        let isProven: Bool
    }

    struct Holder: Sendable {
        let row: Int64
        /// The device's name, or `nil` if it isn't valid.
        let name: DeviceName?
    }
}

extension KnownOwners {
    /// `enrolled` has the columns `id` and `is_proven`; `holder` has `id` and `name`.
    package init<Row: OutboxRow>(deviceCount: Int, enrolled: [Row], holder: Row?) throws(OutboxError) {
        self.deviceCount = deviceCount
        self.enrolled = try enrolled.map { row throws(OutboxError) in
            Enrolled(row: try row.int("id"), isProven: try row.bool("is_proven"))
        }
        guard let holder else {
            self.holder = nil
            return
        }
        // An invalid name must not keep the address from its owner.
        let name = try? holder.text("name")
        self.holder = Holder(row: try holder.int("id"), name: name.flatMap(DeviceName.init(parsing:)))
    }
}
