package import SealedPush

extension ReceiptReport {
    package var json: [String: JSONValue] {
        [
            "devices": .count(deviceCount), "failingDevices": .count(failingDeviceCount),
            "failingDevicesByReason": .counts(failingDevices), "registeredDevices": .count(registeredDeviceCount),
            "total": total.json, "days": .array(days.map(\.json)),
        ]
    }
}

extension ReceiptDay {
    fileprivate var json: JSONValue {
        [
            "start": .integer(start.secondsSince1970), "accepted": .count(acceptedCount), "shown": .count(shownCount),
            "repeated": .count(repeatedCount), "failures": .counts(failures), "refused": .counts(refusals),
            "shownWithinMilliseconds": .counts(
                Dictionary(
                    uniqueKeysWithValues: shownWithin.map { ("\(Int64($0.key / .milliseconds(1)))", $0.value) })),
        ]
    }
}
