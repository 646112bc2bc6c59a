internal import PushSender
package import SealedPush

extension OutboxStatus {
    /// All counts by name. The senders are separate, because their names are in a keyring.
    package var json: [String: JSONValue] {
        [
            "devices": .count(deviceCount), "reachableDevices": .count(reachableDeviceCount),
            "waiting": .count(waitingCount), "dueDevices": .count(queues.due), "leasedDevices": .count(queues.leased),
            "leasedByHost": .counts(leasedByHost), "deferredDevices": .count(queues.deferred),
            "waitingDevices": .counts(Dictionary(waitingDevices.map { ($0.key.shown, $0.value) }, uniquingKeysWith: +)),
            "waitingByAge": .array(
                waitingByAge.sorted { $0.key < $1.key }.map { age, count in
                    ["olderThanSeconds": .integer(age.components.seconds), "count": .count(count)]
                }), "nextDue": nextDue.map { .integer($0.secondsSince1970) } ?? .null, "refused": .counts(deadLetters),
            "outcomes": .counts(outcomes), "fileBytes": .count(fileByteCount),
        ]
    }
}
