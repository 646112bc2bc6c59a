public import Foundation

/// An extension that may change a remote notification before it is shown (Apple, UNNotificationServiceExtension).
///
/// As with Apple's class, neither it nor its content handler is `Sendable`: what compiles here compiles there.
open class UNNotificationServiceExtension: NSObject {
    /// Makes an extension; the system may use one object for several requests, even at once.
    public override init() {
        super.init()
    }

    /// Receives a request and answers with the content to show; this base class answers with what came.
    open func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        contentHandler(request.content)
    }

    /// Tells, on another thread, that about 30 seconds are over; this base class does nothing.
    open func serviceExtensionTimeWillExpire() {}
}
