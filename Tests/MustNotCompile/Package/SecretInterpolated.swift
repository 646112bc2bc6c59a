// error: no exact matches in call to instance method 'appendInterpolation'
import PushCore

/// What is interpolated ends in a log.
func log(_ secret: borrowing GuardedSecret) {
    print("secret: \(secret)")  // refused
}
