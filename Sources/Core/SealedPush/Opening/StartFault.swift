/// Why iOS doesn't start the extension for a push, so that nothing is opened. The rule needs the payload's `aps` alone.
///
/// Source: Apple, "Modifying content in newly delivered notifications".
public enum StartFault: String, Sendable, CaseIterable {
    /// No title, subtitle or body.
    case noAlert = "no-alert"
    /// Nothing but `content-available`: a background push, which the app opens.
    case background
    /// `mutable-content` is not the number 1.
    case notMutable = "not-mutable"

    /// Nil if iOS starts the extension, for a push whose `apns-push-type` is `alert`.
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
        case .noAlert: "the extension is never started: the payload has no alert with a text"
        case .background:
            "the extension is never started: a background push is for the app, which opens withdrawals alone"
        case .notMutable: "the extension is never started: \"mutable-content\" is not the number 1"
        }
    }
}
