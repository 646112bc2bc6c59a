/// Whether iOS wakes the app's notification service extension for a push.
///
/// Source: Apple, "Modifying content in newly delivered notifications": an alert push, whose alert has a title, subtitle
/// or body, with `mutable-content` 1.
public enum WakeRule: Equatable, Sendable {
    case wakes
    /// Shown as it came: it has an alert, and the extension is not asked.
    case showsOriginal(because: String)
    /// Nothing is shown.
    case showsNothing(because: String)

    /// - Parameter pushType: what `apns-push-type` says.
    public static func decide(_ push: PushFile, pushType: String) -> WakeRule {
        guard pushType == "alert" else { return .showsNothing(because: "a push of type \(pushType) shows no alert") }
        guard WireNotification(push.payload).hasText else {
            return .showsNothing(because: "the push has no alert text")
        }
        let aps = push.payload["aps"] as? [String: Any] ?? [:]
        guard (aps["mutable-content"] as? Int) == 1 else {
            return .showsOriginal(because: "the push has no mutable-content, so the extension is not woken")
        }
        return .wakes
    }
}
