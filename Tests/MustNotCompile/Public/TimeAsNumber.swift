// error: cannot assign value of type 'Int' to type 'Timestamp'
import SealedPush

/// A number could be milliseconds, or a duration.
func limit(_ content: inout Content) {
    content.expires = 1_800_000_000  // refused
}
