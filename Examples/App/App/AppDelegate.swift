import PushApp

/// Passes on the system's four calls about pushes.
final class AppDelegate: PushAppDelegate {
    override var sealedPushes: SealedPushes { pushes }
}
