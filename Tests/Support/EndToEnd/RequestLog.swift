internal import Foundation

/// The pushes in the log of the local APNs: the attempts at each, their answers, and whether all attempts are the same.
package struct RequestLog: Sendable {
    /// The pushes, by `apns-id`.
    package private(set) var pushes: [String: Push] = [:]
    package private(set) var requestCount = 0
    package private(set) var faults = FaultList()
    /// The number of notifications sent to devices, repeats included.
    package private(set) var sentCount = 0
    package private(set) var statuses: [Int: Int] = [:]
    package private(set) var resetCount = 0
    package private(set) var lostCount = 0
    package private(set) var goAwayCount = 0

    package struct Push: Sendable {
        /// The digest of everything that must not change between attempts.
        let digest: Int
        package let collapseID: String
        package var attemptCount = 1
        /// The number of 200s that left the server. If there is a second one, the first came too late, or the sender died
        /// before it recorded it.
        package var acceptedCount = 0
    }

    package init() {}

    /// The number of pushes for which APNs answered more than once that it accepted them.
    package var answeredTwiceCount: Int { pushes.values.count { $0.acceptedCount > 1 } }
    package var sentAgainCount: Int { pushes.values.count { $0.attemptCount > 1 } }

    package mutating func add(line: some Collection<UInt8>) {
        guard let object = (try? JSONSerialization.jsonObject(with: Data(line))) as? [String: Any] else {
            return faults.add("the local APNs logged a line that isn't JSON")
        }
        if object["event"] as? String == "goaway" { goAwayCount += 1 }
        guard object["event"] as? String == "request" else { return }
        requestCount += 1
        guard let headers = object["headers"] as? [String: Any], let apnsID = headers["apns-id"] as? String,
            let collapseID = headers["apns-collapse-id"] as? String, let path = object["path"] as? String,
            let payload = object["payload"] as? String, let status = object["status"] as? Int
        else { return faults.add("a request lacks its identifiers") }
        let others = ["apns-topic", "apns-priority", "apns-push-type", "apns-expiration"].map {
            headers[$0] as? String ?? "-"
        }
        add(apnsID, collapseID, digest: ([path, payload] + others).hashValue)
        note(apnsID, status: status, fault: object["fault"] as? String, outcome: object["outcome"] as? String)
    }

    private mutating func add(_ apnsID: String, _ collapseID: String, digest: Int) {
        guard let earlier = pushes[apnsID] else {
            pushes[apnsID] = Push(digest: digest, collapseID: collapseID)
            return
        }
        pushes[apnsID]?.attemptCount += 1
        if earlier.collapseID != collapseID { faults.add("\(apnsID) arrived with two collapse IDs") }
        if earlier.digest != digest { faults.add("\(apnsID) arrived with another token, header, or payload") }
    }

    private mutating func note(_ apnsID: String, status: Int, fault: String?, outcome: String?) {
        statuses[status, default: 0] += 1
        if outcome == "sent" { sentCount += 1 }
        switch fault {
        case "reset": resetCount += 1
        case "lost-response": lostCount += 1
        default: if status == 200 { pushes[apnsID]?.acceptedCount += 1 }
        }
    }

    /// Checks that each message is one push, with the identifiers that its device showed.
    package mutating func compare(with shown: ShownMessages, messageCount: Int) {
        if pushes.count != messageCount { faults.add("\(pushes.count) pushes for \(messageCount) messages") }
        let collapseIDCount = Set(pushes.values.map { $0.collapseID }).count
        if collapseIDCount != pushes.count { faults.add("\(collapseIDCount) collapse IDs for \(pushes.count) pushes") }
        for message in 0..<messageCount {
            guard let notification = shown.notification(of: message) else { continue }
            if pushes[notification.apnsID]?.collapseID != notification.identifier {
                faults.add("message \(message) was shown under identifiers that were never sent")
            }
        }
    }
}
