public import Foundation

/// A trigger some seconds after the request (Apple, UNTimeIntervalNotificationTrigger).
public final class UNTimeIntervalNotificationTrigger: UNNotificationTrigger {
    /// The seconds to wait.
    public let timeInterval: TimeInterval

    private init(seconds: TimeInterval, repeats: Bool) {
        timeInterval = seconds
        super.init(repeats: repeats)
    }

    /// Makes a trigger; traps unless the interval is above 0 and, when it repeats, at least 60 seconds.
    public convenience init(timeInterval: TimeInterval, repeats: Bool) {
        precondition(timeInterval > 0, "A trigger's time interval must be greater than 0 seconds.")
        precondition(!repeats || timeInterval >= 60, "A repeating trigger's time interval must be at least 60 seconds.")
        self.init(seconds: timeInterval, repeats: repeats)
    }

    /// The next date at which the trigger fires, counted from now.
    public func nextTriggerDate() -> Date? {
        nextTriggerDate(after: Date())
    }

    /// The next date at which the trigger fires, counted from `start`.
    package func nextTriggerDate(after start: Date) -> Date? {
        start.addingTimeInterval(timeInterval)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNTimeIntervalNotificationTrigger else { return false }
        return super.isEqual(other) && timeInterval == other.timeInterval
    }

    public override var hash: Int { timeInterval.hashValue }

    public required init?(coder: NSCoder) {
        timeInterval = coder.decodeDouble(forKey: "timeInterval")
        guard timeInterval > 0 else { return nil }
        super.init(coder: coder)
    }

    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(timeInterval, forKey: "timeInterval")
    }
}
