internal import PushCore
import PushOutbox
internal import SealedPush

extension OutboxStatus {
    var samples: [MetricSample] {
        [
            MetricSample("push_outbox_devices", .gauge, deviceCount),
            MetricSample("push_outbox_reachable_devices", .gauge, reachableDeviceCount),
            MetricSample("push_outbox_waiting", .gauge, waitingCount),
            MetricSample("push_outbox_bytes", .gauge, fileByteCount),
            MetricSample("push_records_expiring", .gauge, expiringRecordCount),
            MetricSample("push_outbox_queues", .gauge, queues.due, labels: [("state", "due")]),
            MetricSample("push_outbox_queues", .gauge, queues.leased, labels: [("state", "leased")]),
            MetricSample("push_outbox_queues", .gauge, queues.deferred, labels: [("state", "deferred")]),
        ]
            + waitingByAge.sorted { $0.key < $1.key }.map {
                MetricSample(
                    "push_outbox_waiting_older_than", .gauge, $0.value,
                    labels: [("seconds", String($0.key.components.seconds))])
            }
            + deadLetters.sorted { $0.key < $1.key }.map {
                MetricSample("push_outbox_refused", .gauge, $0.value, labels: [("reason", $0.key)])
            }
            + [firstRecordExpiry].compactMap(\.self).map {
                MetricSample("push_records_expiry_seconds", .gauge, Int($0.secondsSince1970))
            }
    }
}
