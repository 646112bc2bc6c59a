/// A reason why iOS doesn't start the extension for a push, so that it isn't opened. Depends only on the payload's `aps`.
/// Source: Apple, "Modifying content in newly delivered notifications".
public enum StartFault: String, Sendable, CaseIterable {
    /// No title, subtitle, or body.
    case noAlert = "no-alert"
    /// Only `content-available`: a background push, which the app opens.
    case background
    /// `mutable-content` is not the number 1.
    case notMutable = "not-mutable"

    /// Returns nil if iOS starts the extension for a push whose `apns-push-type` is `alert`.
    package init?(payload: [String: JSONValue]) {
        let aps = payload["aps"]
        let texts: [JSONValue?] =
            switch aps?["alert"] {
            case .object(let alert)?:
                ["title", "title-loc-key", "subtitle", "subtitle-loc-key", "body", "loc-key"].map { alert[$0] }
            case let alert: [alert]
            }
        if !texts.contains(where: { $0?.string?.isEmpty == false }) {
            self = aps == ["content-available": 1] ? .background : .noAlert
        } else if aps?["mutable-content"] != 1 {
            self = .notMutable
        } else {
            return nil
        }
    }
}

extension StartFault: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .noAlert: "the extension never starts: the payload has no alert text"
        case .background:
            "the extension never starts: a background push is for the app, which opens only withdrawals"
        case .notMutable: "the extension never starts: \"mutable-content\" is not the number 1"
        }
    }
}
