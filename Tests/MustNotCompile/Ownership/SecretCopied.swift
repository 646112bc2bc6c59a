// error: 'secret' consumed more than once
import PushCore

/// Each copy would have to be wiped.
func copy(_ secret: consuming GuardedSecret) {
    let first = secret
    let second = secret  // refused
    _ = first.count
    _ = second.count  // refused
}
