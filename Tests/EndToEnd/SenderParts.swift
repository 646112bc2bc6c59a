package import PushSender
package import SealedPush

/// What sender and devices agree on.
package enum SenderParts {
    package static let topic: Topic = "com.example.app"
    /// What travels in the clear.
    package static let safeDefault: WireAlert = "You have a new message!"
}
