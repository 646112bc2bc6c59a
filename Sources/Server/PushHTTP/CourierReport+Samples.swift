internal import PushCore
import PushOutbox

extension CourierReport {
    var samples: [MetricSample] {
        let lists = [("deferred", deferred), ("dropped", dropped), ("refused", refused)]
        return [
            MetricSample(
                "push_deliveries_total", .counter, acceptedCount, labels: [("outcome", "accepted"), ("reason", "")]),
            MetricSample("push_deliveries_in_flight", .gauge, inFlightCount),
        ]
            + MetricSample.histogram(
                "push_delivery_wait_seconds", bounds: WaitingTimes.bounds.map { $0 / .seconds(1) },
                counts: waits.counts, count: waits.count, sum: waits.sum / .seconds(1))
            + lists.flatMap { outcome, reasons in
                reasons.sorted { $0.key < $1.key }.map {
                    MetricSample(
                        "push_deliveries_total", .counter, $0.value, labels: [("outcome", outcome), ("reason", $0.key)])
                }
            }
    }
}
