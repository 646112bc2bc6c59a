package import SealedPush

extension DeviceListing {
    package var json: [String: JSONValue] {
        let members: [String: JSONValue] = ["devices": .array(devices.map(\.json))]
        return unusable.isEmpty ? members : members.merging(["unusable": .array(unusable.map(\.json))]) { $1 }
    }
}
