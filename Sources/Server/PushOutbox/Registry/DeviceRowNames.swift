package import SealedPush

/// The names in a device's row. Every reader of such a row parses them here first: a device that listings can't name must not
/// get messages.
package struct DeviceRowNames: Sendable {
    package let device: DeviceName
    package let user: UserName
    package let topic: Topic

    /// Throws `damaged` if one of them isn't valid.
    package init(_ row: some OutboxRow) throws(OutboxError) {
        guard let device = DeviceName(parsing: try row.text("name")),
            let user = UserName(parsing: try row.text("user_name")), let topic = Topic(parsing: try row.text("topic"))
        else { throw .damaged }
        (self.device, self.user, self.topic) = (device, user, topic)
    }
}
