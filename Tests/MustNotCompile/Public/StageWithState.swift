// error: stored property 'count' of 'Sendable'-conforming class 'CountingStage' is mutable
import PushService

/// One stage works on several notifications at once.
final class CountingStage: ServiceStage {
    var count = 0  // refused
}
