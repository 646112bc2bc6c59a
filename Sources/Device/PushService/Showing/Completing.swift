internal import SealedPush
public import UserNotifications

extension ServiceConfiguration {
    /// Returns the service module's information about a notification, with the app's data even if the notification doesn't
    /// show its message (``SealedNotification/disclosure``).
    ///
    /// The data isn't in such a notification, so this opens the envelope that is, off the main actor, and records nothing
    /// new. For the texts, pass that envelope to ``open(envelope:requestIdentifier:)``. Once the message has expired, or its
    /// key was erased or destroyed by a logout, nobody can open it, and the data is missing.
    ///
    /// - Parameter request: The `request` of a `UNNotification`.
    /// - Returns: Nil if the service module didn't make the notification.
    nonisolated(nonsending) public func complete(_ request: UNNotificationRequest) async -> SealedNotification? {
        guard let shown = sealed(userInfo: request.content.userInfo) else { return nil }
        guard shown.reason == nil, let envelope = shown.envelope,
            let opened = try? await open(envelope: envelope, requestIdentifier: request.identifier),
            opened.id == shown.id
        else { return shown }
        return shown.with(opened.content)
    }
}
