/// How far a notification may interrupt (Apple, UNNotificationInterruptionLevel).
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum UNNotificationInterruptionLevel: UInt, Sendable {
    /// Added to the list; neither the screen nor a sound.
    case passive = 0
    /// Shown at once; the default.
    case active = 1
    /// Shown at once, also during a Focus.
    case timeSensitive = 2
    /// Shown and heard even when the device is muted.
    case critical = 3
}
