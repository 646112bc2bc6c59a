import Foundation

extension DeliveredPush {
    /// One object for `--json`: absent values are null.
    package func jsonObject(file: String, identifier: String) -> [String: Any] {
        func text(_ value: String?) -> Any { value.flatMap { $0.isEmpty ? nil : $0 } ?? NSNull() }
        let milliseconds = elapsed.map {
            $0.components.seconds * 1_000 + $0.components.attoseconds / 1_000_000_000_000_000
        }
        var object: [String: Any] = [
            "file": file, "identifier": identifier, "outcome": outcome.rawValue, "reason": reason ?? NSNull(),
            "note": note ?? NSNull(), "remarks": remarks, "title": text(shown?.title),
            "subtitle": text(shown?.subtitle), "body": text(shown?.body), "badge": badge ?? NSNull(),
            "sound": text(shown?.sound), "rings": text(ring?.sound), "ringsCritically": ring?.isCritical ?? false,
            "lightsScreen": lightsScreen, "thread": text(shown?.thread), "category": text(shown?.category),
            "interruptionLevel": text(shown?.interruptionLevel), "relevance": shown?.relevanceScore ?? NSNull(),
            "targetContent": text(shown?.targetContent), "attachments": shown?.attachments.map(\.jsonObject) ?? [],
            "data": shown?.data ?? NSNull(), "userInfoKeys": shown?.userInfoObject.keys.sorted() ?? [],
            "elapsedMilliseconds": milliseconds ?? NSNull(), "peakMemoryBytes": peakMemoryByteCount ?? NSNull(),
        ]
        object["expanded"] = expansion?.jsonObject
        return object
    }
}

extension ShownNotification {
    /// The user info, read.
    var userInfoObject: [String: Any] { (try? JSONSerialization.jsonObject(with: userInfo)) as? [String: Any] ?? [:] }

    /// What the service module says about it.
    var sealedPush: [String: Any]? {
        // Specification 6.7: with anything beside it, the claim is the wire's own.
        let userInfo = userInfoObject
        return userInfo.count == 1 ? userInfo["sealed-push"] as? [String: Any] : nil
    }

    /// The service module hands JSON over as text.
    fileprivate var data: Any? {
        guard let text = sealedPush?["data"] as? String else { return nil }
        return try? JSONSerialization.jsonObject(with: Data(text.utf8), options: [.fragmentsAllowed])
    }
}
