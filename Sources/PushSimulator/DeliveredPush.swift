import Foundation

/// What a person gets to see of one push, and why.
public struct DeliveredPush: Sendable {
    public let outcome: Outcome
    /// Nil where nothing is shown.
    public let shown: ShownNotification?
    /// The code, where the safe default is shown.
    public let reason: String?
    /// What happened, where it was not the extension that decided.
    public let note: String?
    /// What the extension did wrong besides: an attachment that is not shown, a handler called twice.
    public var remarks: [String] = []
    /// From the extension's start; nil where it was not started.
    public var elapsed: Duration?
    /// The extension's own memory at its highest, in bytes; nil where it was not started.
    public var peakMemoryByteCount: Int?

    public enum Outcome: String, Sendable {
        /// The sealed content.
        case opened
        case safeDefault = "safe-default"
        /// The text of the wire.
        case original
        /// An extension's content that does not claim to be sealed.
        case modified
        case notShown = "not-shown"
    }

    init(outcome: Outcome, shown: ShownNotification?, reason: String? = nil, note: String? = nil) {
        self.outcome = outcome
        self.shown = shown
        self.reason = reason
        self.note = note
    }

    /// What an extension has returned, once its attachments were looked at and taken.
    init(showing returned: ShownNotification, attachments: AttachmentStore, identifier: String) {
        var content = returned
        let files = attachments.take(returned.attachments, for: identifier)
        content.attachments = files.kept
        self.init(showing: content)
        remarks = files.remarks
    }

    private init(showing content: ShownNotification) {
        let members = Self.sealedPush(content)
        switch members?["outcome"] as? String {
        case "opened": self.init(outcome: .opened, shown: content)
        case "safe-default":
            self.init(outcome: .safeDefault, shown: content, reason: members?["reason"] as? String)
        default: self.init(outcome: .modified, shown: content)
        }
    }

    /// One object for `--json`: absent values are null.
    public func jsonObject(file: String, identifier: String) -> [String: Any] {
        func text(_ value: String?) -> Any { value.flatMap { $0.isEmpty ? nil : $0 } ?? NSNull() }
        let milliseconds = elapsed.map {
            $0.components.seconds * 1_000 + $0.components.attoseconds / 1_000_000_000_000_000
        }
        return [
            "file": file, "identifier": identifier, "outcome": outcome.rawValue, "reason": reason ?? NSNull(),
            "note": note ?? NSNull(), "remarks": remarks, "title": text(shown?.title),
            "subtitle": text(shown?.subtitle),
            "body": text(shown?.body), "badge": shown?.badge ?? NSNull(), "sound": text(shown?.sound),
            "thread": text(shown?.thread), "category": text(shown?.category),
            "interruptionLevel": text(shown?.interruptionLevel), "targetContent": text(shown?.targetContent),
            "attachments": shown?.attachments.map(\.jsonObject) ?? [],
            "data": shown.flatMap(Self.data) ?? NSNull(),
            "userInfoKeys": shown.map(Self.userInfo)?.keys.sorted() ?? [],
            "elapsedMilliseconds": milliseconds ?? NSNull(), "peakMemoryBytes": peakMemoryByteCount ?? NSNull(),
        ]
    }

    /// The service module hands JSON over as text.
    private static func data(_ content: ShownNotification) -> Any? {
        guard let text = sealedPush(content)?["data"] as? String else { return nil }
        return try? JSONSerialization.jsonObject(with: Data(text.utf8), options: [.fragmentsAllowed])
    }

    private static func userInfo(_ content: ShownNotification) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: content.userInfo)) as? [String: Any] ?? [:]
    }

    private static func sealedPush(_ content: ShownNotification) -> [String: Any]? {
        // Specification 6.7: with anything beside it, the claim is the wire's own.
        let userInfo = userInfo(content)
        return userInfo.count == 1 ? userInfo["sealed-push"] as? [String: Any] : nil
    }
}
