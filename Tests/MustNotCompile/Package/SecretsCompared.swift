// error: referencing operator function '==' on 'Equatable' requires that 'GuardedSecret' conform to 'Equatable'
import PushCore

/// Comparing with == takes the longer, the more bytes are equal.
func equal(_ first: borrowing GuardedSecret, _ second: borrowing GuardedSecret) {
    _ = first == second  // refused
}
