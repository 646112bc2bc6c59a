/// What the service module tells the app about a notification, read from its user info.
///
/// For the app, in `userNotificationCenter(_:didReceive:)` or wherever it meets a notification. Source: Specification 6.7.
public struct SealedNotification {
    /// Nil where it opened; else the code of what went wrong, for the app's own log.
    public let reason: String?
    /// The message's ID, where it opened.
    public let id: String?
    /// The sender's public key, where it opened and the sender is known.
    public let sender: String?
    /// The app's own data, where it opened and there is some.
    public let data: Any?
    /// Keys of the content that this version does not know.
    public let other: [String: Any]
    /// The envelope's text, where the device was locked: open it once it is unlocked.
    public let envelope: String?

    /// Nil unless this user info was made by the service module: then it holds one key and nothing else.
    ///
    /// A push that never woke the extension still has its `aps`, and whoever carried it could have put anything beside
    /// that. Such a push is not believed.
    public init?(userInfo: [AnyHashable: Any]) {
        guard userInfo.count == 1, let members = userInfo[Self.key] as? [String: Any],
            let outcome = members["outcome"] as? String
        else { return nil }
        let reason = members["reason"] as? String
        guard (outcome == "opened") == (reason == nil) else { return nil }
        self.reason = reason
        id = members["id"] as? String
        sender = members["sender"] as? String
        data = members["data"]
        other = members["other"] as? [String: Any] ?? [:]
        envelope = members["envelope"] as? String
    }

    static let key = "sealed-push"
}
