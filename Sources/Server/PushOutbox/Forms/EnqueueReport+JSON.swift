package import SealedPush

extension EnqueueReport {
    package var json: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "id": .string(id.description), "enqueued": .count(enqueuedCount),
            "alreadyEnqueued": .count(alreadyEnqueuedCount), "skipped": .counts(skippedCounts),
        ]
        if !notHybrid.isEmpty { members["notHybrid"] = .array(notHybrid.map { .string($0.description) }) }
        return members
    }

    package var skippedCounts: [String: Int] {
        Dictionary(uniqueKeysWithValues: skipped.map { ($0.key.rawValue, $0.value) })
    }
}
